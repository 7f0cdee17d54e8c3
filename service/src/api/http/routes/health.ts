import { timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { sha256 } from '../../../store/secrets/hash.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { Readiness } from '../../readiness.js'
import { readBearerKey } from '../authenticate.js'
import { problem } from '../problem.js'

/** `GET /healthz`: responds while the process is alive. */
export const health: RequestHandler = function showHealth(_request, response) {
  response.json({ status: 'ok' })
}

/** `GET /readyz`: 200 when the service can accept requests, else 503; the body shows which check failed. */
export function readiness(checkReadiness: () => Promise<Readiness>): RequestHandler {
  return async function showReadiness(_request, response) {
    const { ready, checks } = await checkReadiness()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', checks })
  }
}

/** `GET /metrics` for Prometheus, with the bearer token `key`. Without a key, `withoutKey` allows it from this machine, not through a proxy. */
export function metricsRoute(
  metrics: Metrics,
  { key, withoutKey }: { readonly key: string | undefined; readonly withoutKey: boolean },
): RequestHandler {
  const expected = key === undefined ? undefined : sha256(key)
  return async function showMetrics(request, response) {
    if (expected && !timingSafeEqual(sha256(readBearerKey(request.headers.authorization)), expected)) {
      return problem(response, 'invalid_api_key')
    }
    if (!expected && !(withoutKey && isLocal(request))) return problem(response, 'not_found')
    const { text, contentType } = await metrics.read()
    response.set('Content-Type', contentType).send(text)
  }
}

const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

function isLocal(request: Request): boolean {
  const address = request.socket.remoteAddress ?? ''
  if (PROXY_HEADERS.some((name) => request.headers[name] !== undefined)) return false
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}
