import type { ErrorRequestHandler } from 'express'
import { describeError, type Logger } from '../log/logger.js'
import { StoreUnavailableError } from '../store/outages.js'
import { UNAVAILABLE_FOR_SECONDS } from './answer-within.js'
import { InvalidBodyError, UNPARSABLE } from './body.js'
import { eventStreamOf } from './event-stream.js'
import { requestId } from './headers.js'
import { problem } from './problem.js'

/** Responds to errors without revealing internals (R84). */
export function errorHandler(log: Logger): ErrorRequestHandler {
  return function respondToError(error: unknown, request, response, next) {
    // After the time limit of the request the response is complete, and the error is only logged.
    if (response.headersSent && !response.writableEnded && !eventStreamOf(response)) return next(error)
    if (error instanceof InvalidBodyError) {
      const { fields, detail } = error
      const errors = fields.map((field) => ({ field: truncatedName(field), detail }))
      return problem(response, 'invalid_request', { errors })
    }
    const status = statusOf(error)
    if (status === 413) return problem(response, 'body_too_large')
    if (status === 415) return problem(response, 'unsupported_media_type')
    if (status >= 400 && status < 500) {
      const errors = [{ field: 'body', detail: UNPARSABLE }]
      return problem(response, 'invalid_request', { errors })
    }
    if (error instanceof StoreUnavailableError) {
      const fields = { request: requestId(request), reason: error.reason, detail: describeError(error) }
      log({ level: 'error', event: 'store.unavailable', ...fields })
      return problem(response, 'unavailable', { retryAfterSeconds: UNAVAILABLE_FOR_SECONDS })
    }
    log({ level: 'error', event: 'http.failed', request: requestId(request), detail: describeError(error) })
    problem(response, 'internal_error')
  }
}

/** The beginning of a name that the caller chose. */
function truncatedName(field: string): string {
  return field.replace(/[\p{Cc}\p{Surrogate}]/gu, '').slice(0, 64)
}

function statusOf(error: unknown): number {
  const status = (error as { status?: unknown } | null)?.status
  return typeof status === 'number' ? status : 500
}
