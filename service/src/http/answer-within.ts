import type { RequestHandler, Response } from 'express'
import type { Logger } from '../log/logger.js'
import { applicationIdOf } from './authenticate.js'
import { requestId } from './headers.js'
import { problem } from './problem.js'

/** When a caller may try again; the service recovers by itself within this time of the database's return. */
export const UNAVAILABLE_FOR_SECONDS = 5

/**
 * Responds with `unavailable` when the handlers behind it have not responded after `limitMs`, or with `request_timeout` when the
 * body has not arrived by then. It must run first, so that authentication and the body count, too (R139).
 */
export function answerWithin(limitMs: number, log: Logger): RequestHandler {
  return function setDeadline(request, response, next) {
    const timer = setTimeout(() => {
      if (response.headersSent) return
      // Nothing follows on a connection whose request was not read.
      if (!request.complete) response.set('Connection', 'close')
      // The body is not read before the API key is known.
      if (!request.complete && applicationIdOf(request) !== undefined) {
        return problem(response, 'request_timeout')
      }
      log({ level: 'error', event: 'http.timeout', request: requestId(request), ms: limitMs })
      problem(response, 'unavailable', { retryAfterSeconds: UNAVAILABLE_FOR_SECONDS })
    }, limitMs)
    response.once('close', () => clearTimeout(timer))
    next()
  }
}

/** Ends requests that were answered by `answerWithin`, before anything is done for them. */
export const unlessAnswered: RequestHandler = function stopAnswered(_request, response, next) {
  if (!response.headersSent) next()
}

/** Aborts when the caller closes the connection before the response is sent. */
export function callerGoneSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The caller closed the connection.')))
  return gone.signal
}
