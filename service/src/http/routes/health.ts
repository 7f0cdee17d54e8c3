import type { RequestHandler } from 'express'

/** What must hold for the service to be given work: each check by its name, with what it found. */
export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** `GET /healthz`: the process lives. */
export const health: RequestHandler = function tellHealth(_request, response) {
  response.json({ status: 'ok' })
}

/** `GET /readyz`: 200 when the service may be given work, else 503; the body tells which check failed. */
export function readiness(look: () => Promise<Readiness>): RequestHandler {
  return async function tellReadiness(_request, response) {
    const { ready, checks } = await look()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', checks })
  }
}
