import { ServiceError } from 'countersign'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { problemPage } from '../views/problem-page.js'
import { frameOf } from './frame.js'
import { wantsJson } from './negotiate.js'
import { Problem } from './problem.js'

const OUTAGE = 'It’s not your fault. Please try again in a few minutes.'
const NOT_COUNTED =
  'It’s not your fault. Your code was not checked, and it didn’t count as an attempt. Please try again in a few minutes.'

/** Responds to a request that no route handled. */
export const notFound: RequestHandler = function notFound(_req, _res, next) {
  next(new Problem('not_found', 'There is no page at this address.'))
}

/** Turns an error into a page or problem+json that reveals no internals. */
export const errorHandler: ErrorRequestHandler = function errorHandler(error, req, res, next) {
  if (res.headersSent) return next(error)
  answerProblem(req, res, asProblem(error, req.body))
}

/** Responds with a problem, as a page or as JSON. */
export function answerProblem(req: Request, res: Response, problem: Problem): void {
  res.status(problem.status).set('Cache-Control', 'no-store')
  if (problem.retryAfterSeconds !== undefined) res.set('Retry-After', String(problem.retryAfterSeconds))
  if (!wantsJson(req)) {
    res.send(problemPage(problem, req.user, frameOf(req, {})))
    return
  }
  res.type('application/problem+json').send(JSON.stringify(problemBody(problem)))
}

/** A problem as JSON (RFC 9457). */
export function problemBody({ status, code, title, detail }: Problem) {
  return { type: 'about:blank', title, status, code, detail }
}

/** The problem that an error means for the user who posted `body`. One of ours is logged. */
export function asProblem(error: unknown, body?: unknown): Problem {
  if (error instanceof Problem) return error
  const status = statusOf(error)
  if (status === 413) return new Problem('body_too_large', 'Send at most 4 KB.')
  if (status === 415)
    return new Problem('unsupported_media_type', 'Send application/json or a form in UTF-8.')
  // The session ended during the request.
  if (status === 401) return new Problem('sign_in_required', 'Sign in and try again.')
  if (status >= 400 && status < 500) return new Problem('invalid_request', 'The request could not be read.')
  console.error(error)
  // The gate asks the MFA service which factors a user has, and signs nobody in without an answer.
  if (error instanceof ServiceError && status === 503) {
    return new Problem('service_unavailable', hasCode(body) ? NOT_COUNTED : OUTAGE)
  }
  return status === 503 || status === 502
    ? new Problem('unavailable', 'Please try again in a minute.')
    : new Problem('internal_error', 'Please try again. If it happens again, let us know the time.')
}

function hasCode(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'code' in body
}

function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined
  return typeof status === 'number' ? status : 500
}
