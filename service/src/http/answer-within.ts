import type { RequestHandler } from 'express'
import type { Logger } from '../log/logger.js'
import { problem } from './problem.js'
import { requestId } from './request-id.js'

/** When a caller may try again; the service recovers by itself within this time of the database's return. */
export const UNAVAILABLE_FOR_SECONDS = 5

/** Responds with `unavailable` when the handlers behind it have not responded after `limitMs`. */
export function answerWithin(limitMs: number, log: Logger): RequestHandler {
  return function setDeadline(request, response, next) {
    const timer = setTimeout(() => {
      if (response.headersSent) return
      log({ level: 'error', event: 'http.timeout', request: requestId(request), ms: limitMs })
      problem(response, 'unavailable', { retryAfterSeconds: UNAVAILABLE_FOR_SECONDS })
    }, limitMs)
    response.once('close', () => clearTimeout(timer))
    next()
  }
}
