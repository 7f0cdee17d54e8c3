import type { ErrorRequestHandler } from 'express'
import { describe, type Logger } from '../log/logger.js'
import { UNREADABLE, UnreadableBodyError } from './parse-body.js'
import { problem } from './problem.js'
import { requestId } from './request-id.js'

/** Answers whatever went wrong, without telling how it looks inside (R84). */
export function failures(log: Logger): ErrorRequestHandler {
  return function answerFailure(error: unknown, request, response, next) {
    if (response.headersSent) return next(error)
    if (error instanceof UnreadableBodyError) {
      const { fields, detail } = error
      const errors = fields.map((field) => ({ field: shortOf(field), detail }))
      return problem(response, 'invalid_request', { errors })
    }
    const status = statusOf(error)
    if (status === 413) return problem(response, 'body_too_large')
    if (status === 415) return problem(response, 'unsupported_media_type')
    if (status >= 400 && status < 500) {
      const errors = [{ field: 'body', detail: UNREADABLE }]
      return problem(response, 'invalid_request', { errors })
    }
    log({ level: 'error', event: 'http.failed', request: requestId(request), detail: describe(error) })
    problem(response, 'internal_error')
  }
}

/** A name that the caller made up is told back only so far. */
function shortOf(field: string): string {
  return field.replace(/[\p{Cc}\p{Surrogate}]/gu, '').slice(0, 64)
}

function statusOf(error: unknown): number {
  const status = (error as { status?: unknown } | null)?.status
  return typeof status === 'number' ? status : 500
}
