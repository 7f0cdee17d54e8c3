import type { Request, RequestHandler, Response } from 'express'
import type { Application } from '../application.js'
import { ACCOUNT_BUSY_SECONDS, type FlowContext } from '../flows/context.js'
import { problem } from './problem.js'

/** Finds the application that an API key belongs to (R85, R86). */
export type FindApplication = (apiKey: string) => Promise<Application | undefined>

const applicationOf = new WeakMap<Request, Application>()

/** Refuses requests without the API key of an application. It must run before the body is read. */
export function authenticate(findApplication: FindApplication): RequestHandler {
  return async function authenticateApplication(request, response, next) {
    const application = await findApplication(bearerKey(request))
    if (!application) return problem(response, 'invalid_api_key')
    applicationOf.set(request, application)
    next()
  }
}

/** The key in the `Authorization: Bearer` header; an empty string when there is none. */
export function bearerKey(request: Request): string {
  return bearerKeyIn(request.get('authorization'))
}

/** The key in the value of an `Authorization` header; an empty string when there is none. */
export function bearerKeyIn(header = ''): string {
  return /^Bearer +([^\s]{1,512})$/i.exec(header)?.[1] ?? ''
}

/** The id of the application whose key came with the request, if one did. */
export function applicationIdOf(request: Request): string | undefined {
  return applicationOf.get(request)?.id
}

/** The application whose key came with the request. */
export function callingApplication(request: Request): Application {
  const application = applicationOf.get(request)
  if (!application) throw new Error('A route was reached without an API key.')
  return application
}

/**
 * Runs `work` for a request about an account of the calling application. Refuses the request if as many of the account are under way
 * as this process allows (R139).
 */
export async function forAccount(
  { underWay }: Pick<FlowContext, 'underWay'>,
  account: string,
  request: Request,
  response: Response,
  work: () => Promise<void>,
): Promise<void> {
  const leave = underWay.enter(callingApplication(request), account)
  if (!leave) return problem(response, 'account_busy', { retryAfterSeconds: ACCOUNT_BUSY_SECONDS })
  try {
    await work()
  } finally {
    leave()
  }
}
