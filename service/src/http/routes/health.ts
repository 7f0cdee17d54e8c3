import type { RequestHandler } from 'express'
import type { Readiness } from '../../readiness.js'

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
