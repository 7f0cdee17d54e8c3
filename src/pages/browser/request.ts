import { failureOfFault, type KeyFailure, type KeyFault } from '../../protocol/keys.js'

/** Where the routes of `mfa.router` are, and how they are requested. */
export interface KeyRoutes {
  /** The path under which `mfa.router` is mounted, such as `/mfa`, or its URL on another origin of the app. */
  readonly base: string
  /** Headers for each request, such as a CSRF token. Defaults to none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether cookies are sent to another origin. Defaults to `same-origin`. */
  readonly credentials?: 'same-origin' | 'include'
}

/** The body of a successful response, which is JSON. */
export interface Answered {
  readonly ok: true
  readonly body: Readonly<Record<string, unknown>>
}

/** Posts JSON to a route of the app. */
export function postJson(routes: KeyRoutes, path: string, body: object): Promise<Answered | KeyFailed> {
  return request(routes, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
}

/** Gets JSON from a route of the app. */
export function getJson(routes: KeyRoutes, path: string): Promise<Answered | KeyFailed> {
  return request(routes, path, {})
}

async function request(routes: KeyRoutes, path: string, init: RequestInit): Promise<Answered | KeyFailed> {
  const { base, headers, credentials = 'same-origin' } = routes
  try {
    const response = await fetch(base.replace(/\/$/, '') + path, {
      ...init,
      credentials,
      headers: { ...headers, ...init.headers, accept: 'application/json' },
    })
    const body: unknown = await response.json().catch(() => undefined)
    if (typeof body !== 'object' || body === null) return createFailure(response.ok ? 'failed' : 'refused')
    return response.ok ? { ok: true, body: { ...body } } : createRefusal({ code: 'unknown', ...body })
  } catch {
    return createFailure('offline')
  }
}

/** For a refused key, the reason is what is wrong with the key. */
function createRefusal(problem: KeyProblem): KeyFailed {
  const failure = problem.code === 'invalid_key' && failureOfFault(problem.fault as KeyFault)
  return createFailure(failure || 'refused', problem)
}

/** Why a key was not added or accepted. `refused`: see `problem.code`. `offline`: the app was not reached. */
export type KeyFailureReason = KeyFailure | 'refused' | 'offline'

/** The members that a program needs of the app's problem response (RFC 9457). */
export interface KeyProblem {
  /** The code of the problem, such as `step_up_required`. */
  readonly code: string
  /** One sentence for developers. */
  readonly title?: string
  /** Why the key was refused, for the code `invalid_key`. */
  readonly fault?: string
  /** How many attempts are left. */
  readonly attemptsLeft?: number
  /** How long to wait, in seconds. */
  readonly retryAfterSeconds?: number
  /** The page on which the user continues, such as the step-up. */
  readonly next?: string
}

/** A key was not added or accepted. */
export interface KeyFailed {
  /** False, unlike in a result with the key. */
  readonly ok: false
  /** Why, as a code for which you have a text. */
  readonly reason: KeyFailureReason
  /** The response of the app, if it refused. */
  readonly problem?: KeyProblem
}

/** A failure with its reason and the problem that the app reported. */
export function createFailure(reason: KeyFailureReason, problem?: KeyProblem): KeyFailed {
  return { ok: false, reason, ...(problem && { problem }) }
}
