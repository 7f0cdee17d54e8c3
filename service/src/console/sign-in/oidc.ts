import type { Request, RequestHandler, Response } from 'express'
import * as oidc from 'openid-client'
import { html } from '../../html.js'
import { consoleCounters } from '../../operator/console-counters.js'
import { endExternalSessions, SESSION_MS, signInExternally } from '../../operator/external-operators.js'
import {
  CALLBACK_PATH,
  CLIENT_REFUSALS,
  createFindProvider,
  createUsedTokenError,
  findOauthError,
  isTokenRefusal,
  logoutTokenReader,
  type OidcSettings,
} from '../../operator/identity-provider.js'
import { ROLES, type Role } from '../../operator/rights.js'
import { createStoreWithin } from '../../store/store.js'
import { describeError } from '../../telemetry/log/logger.js'
import { readForm } from '../form.js'
import type { ConsoleParts } from '../parts.js'
import { LOGOUT_PATH } from '../security.js'
import { sendPage } from '../send-page.js'
import { castUser, OIDC_PATH } from './console-mfa.js'

declare module 'express-session' {
  interface SessionData {
    /** The sign-in at the identity provider that this browser has begun. */
    oidc?: Begun
  }
}

interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly maxAgeSeconds: number
  readonly at: number
}

const SESSION_SECONDS = SESSION_MS / 1000
const ANSWER_LIMIT_MS = 10 * 60_000
/** By how much the clock of the provider may be ahead. */
const CLOCK_TOLERANCE_SECONDS = 60
const MAX_GROUPS = 1_000

/** Why a sign-in failed, by the word for the log: the status of the page and its text. */
const REFUSALS = {
  state: [
    400,
    'This sign-in was not begun in this browser, took longer than ten minutes, or was completed before. Begin again.',
  ],
  refused_by_provider: [401, 'Your company’s sign-in did not confirm who you are.'],
  provider_unavailable: [
    503,
    'Your company’s sign-in cannot be reached. Try again, or sign in with an account of the console.',
  ],
  client_refused: [
    503,
    'Your company’s sign-in refuses the console, whose client secret may have expired. Tell an administrator, and sign in with an account of the console.',
  ],
  no_second_factor: [
    403,
    'Your company’s sign-in did not ask for a second factor, and the console requires one. Ask its administrator.',
  ],
  no_group: [403, 'None of your groups at your company may use the console.'],
  disabled: [403, 'Your account of the console is disabled.'],
  session_ended: [401, 'Another person signed in, so the session has ended. Sign in again.'],
} as const

type Reason = keyof typeof REFUSALS

function findReason(error: unknown): Reason {
  const refusal = findOauthError(error)
  if (CLIENT_REFUSALS.includes(refusal)) return 'client_refused'
  const code = refusal ?? (error instanceof oidc.ClientError ? error.code : undefined)
  return /^$|unavailable|TIMEOUT|NOT_CONFORM|KEY_SELECTION/.test(code ?? '')
    ? 'provider_unavailable'
    : 'refused_by_provider'
}

/** The routes of the sign-in at the identity provider, and the one at which the provider says who signed out there. */
export function oidcRoutes(
  parts: ConsoleParts,
  settings: OidcSettings,
): readonly { readonly method: 'get' | 'post'; readonly path: string; readonly handle: RequestHandler }[] {
  const findProvider = createFindProvider(settings)
  const readLogout = logoutTokenReader(settings, findProvider)
  const callback = new URL(CALLBACK_PATH, parts.url)

  function refuse(response: Response, reason: Reason, detail?: string): void {
    parts.log({ level: 'warn', event: 'console.oidc_refused', reason, ...(detail && { detail }) })
    const [status, text] = REFUSALS[reason]
    const page = {
      title: 'You are not signed in',
      status,
      main: html`<p>${text}${reason === 'client_refused' && ` (${detail})`}</p><p><a class="mfa-primary" href="/console/sign-in">Back to the sign-in</a></p>`,
    }
    sendPage(response, page, undefined)
  }

  const begin: RequestHandler = async (request, response) => {
    const provider = await findProvider().catch((error: unknown) => describeError(error))
    if (typeof provider === 'string') return refuse(response, 'provider_unavailable', provider)
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()]
    const maxAgeSeconds = readMaxAge(request)
    request.session.oidc = { state, nonce, verifier, maxAgeSeconds, at: Date.now() }
    const address = oidc.buildAuthorizationUrl(provider, {
      ...{ redirect_uri: callback.href, scope: settings.scope, state, nonce },
      ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      // Without it, a provider need not say when the factors were shown.
      max_age: String(maxAgeSeconds),
      ...(settings.acr.length > 0 && { acr_values: settings.acr.join(' ') }),
    })
    // A step-up may follow a form, to whose page Chromium applies form-action at every redirect: a page leads on instead.
    if (request.query.max_age === undefined) return response.redirect(303, address.href)
    response.set('Refresh', `0; url=${address.href}`)
    const main = html`<p><a class="mfa-primary" href="${address.href}">Continue</a></p>`
    sendPage(response, { title: 'Sign in with your company', main }, undefined)
  }

  const finish: RequestHandler = async (request, response, next) => {
    const begun = request.session.oidc
    delete request.session.oidc
    if (!begun || Date.now() - begun.at >= ANSWER_LIMIT_MS || request.query.state !== begun.state) {
      return refuse(response, 'state')
    }
    // Before the code is exchanged, and in one step for all processes: two answers to one request are not both taken.
    const uses = await consoleCounters(parts.store).add(`oidc:${begun.state}`, ANSWER_LIMIT_MS)
    if (uses > 1) return refuse(response, 'state')
    const claims = await requestClaims(request, begun)
    if ('reason' in claims) return refuse(response, claims.reason, claims.detail)
    const { evidence, role, ...person } = claims
    if (!role) {
      // Like a demotion, it also counts in sessions that are open.
      await endExternalSessions(parts.store, { iss: person.issuer, sub: person.subject })
      return refuse(response, 'no_group')
    }
    if (!countsAsSecondFactor(evidence, settings)) return refuse(response, 'no_second_factor')
    const operator = await signInExternally(parts.store, { ...person, role })
    if (!operator) return refuse(response, 'disabled')
    const { returnTo } = request.session
    request.logIn(castUser({ ...operator, evidence }), (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ERR_MFA_SESSION_ENDED') {
        return refuse(response, 'session_ended')
      }
      if (error) return next(error)
      // The plugin read the same claims by its own rules, such as their age.
      if (request.mfa?.status !== 'verified') {
        return request.session.destroy(() => refuse(response, 'no_second_factor'))
      }
      response.redirect(303, localPath(request.session.returnTo ?? returnTo))
    })
  }

  async function requestClaims(request: Request, begun: Begun) {
    try {
      const tokens = await oidc.authorizationCodeGrant(
        await findProvider(),
        new URL(request.originalUrl, callback),
        {
          ...{ expectedState: begun.state, expectedNonce: begun.nonce, pkceCodeVerifier: begun.verifier },
          ...{ maxAge: begun.maxAgeSeconds, idTokenExpected: true },
        },
      )
      const claims = tokens.claims() ?? {}
      if (Number(ownOf(claims, 'iat')) > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS) {
        return { reason: 'refused_by_provider' as const, detail: 'The ID token is of a later time than now.' }
      }
      const [email, session] = [ownOf(claims, 'email'), ownOf(claims, 'sid')]
      const isVerified = ownOf(claims, 'email_verified') === true
      return {
        verifiedEmail: isVerified && typeof email === 'string' ? email : null,
        session: typeof session === 'string' ? session : undefined,
        issuer: String(ownOf(claims, 'iss')),
        subject: String(ownOf(claims, 'sub')),
        role: findRole(ownOf(claims, settings.groupsClaim), settings.groups),
        evidence: {
          issuer: settings.issuer,
          amr: ownOf(claims, 'amr'),
          acr: ownOf(claims, 'acr'),
          authTime: ownOf(claims, 'auth_time'),
        },
      }
    } catch (error) {
      return { reason: findReason(error), detail: findOauthError(error) ?? describeError(error) }
    }
  }

  /** All sessions of the person end. A token is used once, unless they cannot be ended. */
  const logOut: RequestHandler = async (request, response) => {
    try {
      const logout = await readLogout(readForm(request.body).exact('logout_token'))
      await parts.store.transaction(async (tx) => {
        const uses = await consoleCounters(tx).add(`oidc:logout:${logout.jti}`, ANSWER_LIMIT_MS)
        if (uses > 1) throw createUsedTokenError()
        await endExternalSessions(createStoreWithin(tx, parts.store), logout)
      })
      response.end()
    } catch (error) {
      const detail = describeError(error)
      parts.log({ level: 'warn', event: 'console.oidc_refused', reason: 'logout_token', detail })
      // A question that cannot be decided now is repeated by the provider.
      if (isTokenRefusal(error)) response.status(400).json({ error: 'invalid_request' })
      else response.status(503).json({ error: 'temporarily_unavailable' })
    }
  }

  return [
    { method: 'get', path: OIDC_PATH, handle: begin },
    { method: 'get', path: CALLBACK_PATH, handle: finish },
    { method: 'post', path: LOGOUT_PATH, handle: logOut },
  ]
}

/** How old the factors may be: as the plugin asks for a step-up, else as old as a session. */
function readMaxAge(request: Request): number {
  const given = request.query.max_age
  const seconds = typeof given === 'string' && /^\d{1,6}$/.test(given) ? Number(given) : SESSION_SECONDS
  return Math.min(seconds, SESSION_SECONDS)
}

function ownOf(claims: object, name: string): unknown {
  return Object.hasOwn(claims, name) ? Reflect.get(claims, name) : undefined
}

/** The most powerful role of these groups. Anything but a list of texts gives none. */
function findRole(claim: unknown, groups: OidcSettings['groups']): Role | undefined {
  if (!Array.isArray(claim) || claim.length > MAX_GROUPS) return undefined
  return ROLES.toReversed().find((role) => groups[role].some((group) => claim.includes(group)))
}

function countsAsSecondFactor(
  { amr, acr }: { readonly amr: unknown; readonly acr: unknown },
  counted: Pick<OidcSettings, 'amr' | 'acr'>,
): boolean {
  const byAmr = Array.isArray(amr) && counted.amr.some((value) => amr.includes(value))
  return byAmr || counted.acr.some((value) => value === acr)
}

/** A path of the console; everything else leads to its first page. */
function localPath(wanted: unknown): string {
  return typeof wanted === 'string' && /^\/console(?:[/?]|$)/.test(wanted) ? wanted : '/console'
}
