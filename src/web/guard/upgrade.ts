import { IncomingMessage, type RequestListener, ServerResponse, STATUS_CODES } from 'node:http'
import type { Request } from 'express'
import { HostError } from '../../errors.js'
import type { MfaStatus } from '../../options/host.js'
import { prepareState } from '../../session/request-state.js'
import type { SessionState } from '../../session/state.js'
import { enterRequest, type RouteDeps } from '../actions/context.js'
import { getStatus, type Problem, type ProblemDetails, problemDetails } from '../http/problem.js'
import { isSameOrigin } from '../http/request.js'

/** Who opens a connection that outlives its request: a WebSocket, a socket of socket.io, a stream of server-sent events. */
export type Upgrade<User = Express.User> = SignedInUpgrade<User> | RefusedUpgrade

/** The user is signed in, with the second factor wherever it is required. */
export interface SignedInUpgrade<User = Express.User> {
  /** The connection may be opened. */
  readonly outcome: 'signed_in'
  /** The user, as your `deserializeUser` returned it. */
  readonly user: User
  /** The MFA status of the session. */
  readonly mfa: MfaStatus
  /**
   * Reads the session again, and resolves to whether this user is still signed in to it. A session id that changed, as after a
   * step-up, counts as ended: the browser connects again with its new cookie.
   * @throws if the app, the host's functions or a store fails. Close the connection then, too.
   */
  isCurrent(): Promise<boolean>
}

/** The connection must be refused. */
interface RefusedUpgrade {
  /** No user is signed in, or the second factor is missing. */
  readonly outcome: 'refused'
  /** Absent, so that `if (upgrade.user)` tells the two apart. */
  readonly user?: undefined
  /** Why, as a [problem code](../../docs/errors.md). */
  readonly refusal: Problem['code']
  /** The HTTP status: 401 or 403. */
  readonly status: number
  /** The body of the response: problem+json. */
  readonly problem: ProblemDetails
  /** The complete HTTP response, to be written to the socket of an upgrade request: `socket.end(upgrade.response)`. */
  readonly response: string
}

/** Finds out who opens a connection that outlives its request: a WebSocket, a socket of socket.io, server-sent events. */
export type MfaUpgrade<User = Express.User> = (
  req: IncomingMessage,
  app: RequestListener,
  options?: UpgradeOptions,
) => Promise<Upgrade<User>>

/** The options of `mfa.upgrade`, besides the request and the app. */
export interface UpgradeOptions {
  /**
   * Origins of other sites whose pages may connect, such as `https://app.example.com`. Defaults to none: only pages of the host that
   * the request is for, and programs, which send no origin.
   */
  readonly origins?: readonly string[] | undefined
}

/**
 * Finds out who opens a connection (R134): a copy of the request runs through the host's app up to the gate, and no route is
 * reached. @throws {HostError} when the copy does not reach the gate.
 */
export async function findUpgrade(
  own: RouteDeps,
  req: IncomingMessage,
  app: RequestListener,
  options: UpgradeOptions = {},
): Promise<Upgrade> {
  const { req: copy, state } = await inspect(own, req, app)
  const { settings } = enterRequest(copy).deps
  if (!isSameOrigin(copy) && !options.origins?.includes(copy.get('origin') ?? '')) {
    return createRefusal({ code: 'cross_site' })
  }
  if (state.stage === 'none') {
    const code = state.expired ? 'pending_login_expired' : 'sign_in_required'
    return createRefusal({ code, next: settings.login.signInPath })
  }
  if (state.stage === 'pending') return createRefusal({ code: 'mfa_required', next: settings.urls.path })
  if (!copy.mfa) throw new TypeError('The gate did not set `req.mfa`.')
  const { user, userId } = state
  return {
    outcome: 'signed_in',
    user,
    mfa: copy.mfa,
    async isCurrent() {
      const { state: now } = await inspect(own, req, app)
      return now.stage !== 'none' && now.stage !== 'pending' && now.userId === userId
    },
  }
}

function createRefusal(problem: Problem): RefusedUpgrade {
  const status = getStatus(problem.code)
  const details = problemDetails(problem, status)
  const body = JSON.stringify(details)
  const response = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
  return { outcome: 'refused', refusal: problem.code, status, problem: details, response }
}

/** Runs a copy of a request through the app until the gate of `deps` knows its session state. */
function inspect(
  deps: RouteDeps,
  req: IncomingMessage,
  app: RequestListener,
): Promise<{ req: Request; state: SessionState }> {
  return new Promise((resolve, reject) => {
    const copy = copyOf(req)
    const response = new ServerResponse(copy)
    const endAnswer = () => {
      reject(notReached(`responded with ${response.statusCode} before the request reached mfa.session`))
      return response
    }
    Reflect.set(response, 'end', endAnswer)
    prepareState(copy as Request, {
      readOnly: { gate: deps, found: (found, state) => resolve({ req: found, state }) },
    })
    const done = (error?: unknown) =>
      reject(error ?? notReached('has no mfa.session of these options for the path of this request'))
    // An Express app takes a third argument, like every handler; an app of another kind ignores it.
    Reflect.apply(app, undefined, [copy, response, done])
  })
}

function notReached(what: string): HostError {
  return new HostError(
    'ERR_MFA_UPGRADE',
    `mfa.upgrade could not find out who connects, because the app ${what}. Pass the Express app that mounts express-session, passport.session() and mfa.session, in this order, for the path of this connection.`,
  )
}

/** A GET request with the same address and headers, whose session is read anew. */
function copyOf(req: IncomingMessage): IncomingMessage {
  const { socket, headers, rawHeaders, url } = req
  const { httpVersion, httpVersionMajor, httpVersionMinor } = req
  const copy = Object.assign(new IncomingMessage(socket), {
    method: 'GET',
    url: 'originalUrl' in req && typeof req.originalUrl === 'string' ? req.originalUrl : url,
    headers: { ...headers },
    rawHeaders,
    httpVersion,
    httpVersionMajor,
    httpVersionMinor,
    complete: true,
  })
  copy.push(null)
  return copy
}
