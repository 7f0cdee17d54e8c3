import type { NextFunction, Response } from 'express'
import { LimitsStoreError, ServiceError, SessionStoreError, TrustStoreError } from '../../errors.js'
import type { EnteredRequest } from '../actions/context.js'
import { logFailure } from '../http/problem.js'
import { stop } from './show-page.js'

/** Where a code is typed. */
const TAKES_CODE = /\/(?:verify|confirm)$/

/** Responds that the service or a store failed. Any other error is left to the host. */
export function respondFailure(
  error: unknown,
  { req, deps, shared }: EnteredRequest,
  res: Response,
  next: NextFunction,
): void {
  const isOurs =
    error instanceof ServiceError ||
    error instanceof SessionStoreError ||
    error instanceof LimitsStoreError ||
    error instanceof TrustStoreError
  if (!isOurs || res.headersSent) return next(error)
  // The admission has logged it, once for all requests that it refuses.
  if (error.code !== 'ERR_MFA_SERVICE_BUSY') logFailure(deps.settings.logger, error)
  const code = error.code === 'ERR_MFA_SERVICE_KEY' ? 'service_misconfigured' : 'service_unavailable'
  const retryAfterSeconds =
    error instanceof ServiceError ? error.retryAfterSeconds : STORE_RETRY_AFTER_SECONDS
  const problem = { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } as const
  const stage = shared.session?.state.stage ?? 'none'
  const isSignedIn = stage !== 'none' && stage !== 'pending'
  const unasked = isSignedIn && !(req.method === 'POST' && TAKES_CODE.test(req.path))
  stop(req, res, deps, problem, 'retry', {
    status: error.status,
    unasked,
    ...(isSignedIn && { purpose: 'manage' }),
  })
}

/** A store that fails over to another server takes a few seconds. */
const STORE_RETRY_AFTER_SECONDS = 2
