import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Metrics } from '../../metrics/metrics.js'
import { bearerKey } from '../authenticate.js'
import { problem } from '../problem.js'

/**
 * `GET /metrics` for Prometheus: for whoever has `key`, or when there is none, for this machine alone. A request that
 * a proxy passed on is not from this machine, whatever its socket says.
 */
export function metricsRoute(metrics: Metrics, key: string | undefined): RequestHandler {
  const expected = key === undefined ? undefined : sha256(key)
  return async function tellMetrics(request, response) {
    if (expected && !timingSafeEqual(sha256(bearerKey(request)), expected)) {
      return problem(response, 'invalid_api_key')
    }
    if (!expected && !isLocal(request)) return problem(response, 'not_found')
    const { text, contentType } = await metrics.read()
    response.set('Content-Type', contentType).send(text)
  }
}

const PASSED_ON = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

function isLocal(request: Request): boolean {
  const address = request.socket.remoteAddress ?? ''
  if (PASSED_ON.some((name) => request.headers[name] !== undefined)) return false
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
