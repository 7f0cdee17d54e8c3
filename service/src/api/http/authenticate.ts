import type { Request, RequestHandler, Response } from 'express'
import type { ApiCaller, Application } from '../../accounts/application.js'
import { ACCOUNT_BUSY_SECONDS, type FlowContext } from '../../flows/context.js'
import type { LogEvent } from '../../telemetry/log/logger.js'
import { problem } from './problem.js'
import { findScope, missingScope } from './scopes.js'

/** Finds the application that an API key belongs to (R85, R86), and what the key may do, for a request from an address. */
export type FindCaller = (apiKey: string, address: string | undefined) => Promise<ApiCaller | undefined>

const callerOf = new WeakMap<Request, ApiCaller>()

/** Refuses requests without an API key that has the scope of the route at `path`. It must run before the body is read. */
export function authenticate(findCaller: FindCaller, path: string): RequestHandler {
  const scope = findScope(path)
  return async function authenticateApplication(request, response, next) {
    const caller = await findCaller(readBearerKey(request.headers.authorization), request.ip)
    if (!caller) return problem(response, 'invalid_api_key')
    callerOf.set(request, caller)
    if (scope !== undefined && !caller.scopes.includes(scope)) {
      return problem(response, 'missing_scope', missingScope(scope))
    }
    next()
  }
}

/** The key in the value of an `Authorization` header; an empty string when there is none. */
export function readBearerKey(header = ''): string {
  return /^Bearer +([^\s]{1,512})$/i.exec(header)?.[1] ?? ''
}

/** The id of the application whose key came with the request, if one did. */
export function getApplicationId(request: Request): string | undefined {
  return callerOf.get(request)?.application.id
}

/** Who made the request, for the log. */
export function callerFields(request: Request): Pick<LogEvent, 'application' | 'key' | 'client'> {
  const caller = callerOf.get(request)
  return {
    ...(caller && { application: caller.application.id, key: caller.key }),
    ...(request.ip && { client: request.ip }),
  }
}

/** The application whose key came with the request. */
export function callingApplication(request: Request): Application {
  return callerOfRequest(request).application
}

/** Whose key came with the request, and what it may do. */
export function callerOfRequest(request: Request): ApiCaller {
  const caller = callerOf.get(request)
  if (!caller) throw new Error('A route was reached without an API key.')
  return caller
}

/** Runs `work` for a request about an account, unless as many of the account are under way as this process allows (R139). */
export async function runForAccount(
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
