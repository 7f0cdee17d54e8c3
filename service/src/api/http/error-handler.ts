import type { ErrorRequestHandler, RequestHandler, Response } from 'express'
import { readObject } from '../../json.js'
import { StoreUnavailableError } from '../../store/outages.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { getApplicationId } from './authenticate.js'
import { InvalidBodyError, UNPARSABLE } from './body.js'
import { findEventStream } from './event-stream.js'
import { requestId } from './headers.js'
import { problem, refuseField } from './problem.js'

/** When a caller may try again; the service recovers by itself within this time of the database's return. */
const UNAVAILABLE_FOR_SECONDS = 5

/** Responds with `unavailable` after `limitMs`, or `request_timeout` if the body is missing then. Must run first: authentication counts, too (R139). */
export function answerWithin(limitMs: number, log: Logger): RequestHandler {
  return function setDeadline(request, response, next) {
    const timer = setTimeout(() => {
      if (response.headersSent) return
      // Nothing follows on a connection whose request was not read.
      if (!request.complete) response.set('Connection', 'close')
      // The body is not read before the API key is known.
      if (!request.complete && getApplicationId(request) !== undefined) {
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
export const skipAnswered: RequestHandler = function stopAnswered(_request, response, next) {
  if (!response.headersSent) next()
}

/** Aborts when the caller closes the connection before the response is sent. */
export function callerGoneSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The caller closed the connection.')))
  return gone.signal
}

/** Responds to errors without revealing internals (R84). */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return function respondToError(error: unknown, request, response, next) {
    // After the time limit of the request the response is complete, and the error is only logged.
    if (response.headersSent && !response.writableEnded && !findEventStream(response)) return next(error)
    if (error instanceof InvalidBodyError) {
      const { fields, detail } = error
      const errors = fields.map((field) => ({
        field: field.replace(/[\p{Cc}\p{Surrogate}]/gu, '').slice(0, 64),
        detail,
      }))
      return problem(response, 'invalid_request', { errors })
    }
    const { status } = readObject(error)
    if (status === 413) return problem(response, 'body_too_large')
    if (status === 415) return problem(response, 'unsupported_media_type')
    if (typeof status === 'number' && status >= 400 && status < 500)
      return refuseField(response, 'body', UNPARSABLE)
    if (error instanceof StoreUnavailableError) {
      const fields = { request: requestId(request), reason: error.reason, detail: describeError(error) }
      log({ level: 'error', event: 'store.unavailable', ...fields })
      return problem(response, 'unavailable', { retryAfterSeconds: UNAVAILABLE_FOR_SECONDS })
    }
    log({ level: 'error', event: 'http.failed', request: requestId(request), detail: describeError(error) })
    problem(response, 'internal_error')
  }
}
