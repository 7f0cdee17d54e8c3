import type { Request, RequestHandler, Response } from 'express'
import * as oidc from 'openid-client'
import { consoleCounters } from '../../operator/console-counters.js'
import { signInExternally } from '../../operator/external-operators.js'
import { ROLES, type Role } from '../../operator/rights.js'
import { html } from '../../telemetry/html.js'
import { describeError } from '../../telemetry/log/logger.js'
import { isProduction } from '../../telemetry/production.js'
import type { ConsoleParts, OidcSettings } from '../parts.js'
import { sendPage } from '../send-page.js'
import { asUser, OIDC_PATH, SESSION_MS } from './console-mfa.js'

const CALLBACK_PATH = `${OIDC_PATH}/callback`

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
const TIMEOUT_SECONDS = 5
const MAX_GROUPS = 1_000

/** Why nobody was signed in: the status of the page, its text, and the word for the log. */
interface Refusal {
  readonly status: number
  readonly reason: string
  readonly text: string
}

const START_AGAIN: Refusal = {
  status: 400,
  reason: 'state',
  text: 'This sign-in was not begun in this browser, took longer than ten minutes, or was completed before. Begin again.',
}
const PROVIDER_REFUSED: Refusal = {
  status: 401,
  reason: 'refused_by_provider',
  text: 'Your company’s sign-in did not confirm who you are.',
}
const UNREACHABLE: Refusal = {
  status: 503,
  reason: 'provider_unavailable',
  text: 'Your company’s sign-in cannot be reached. Try again, or sign in with an account of the console.',
}
const NO_SECOND_FACTOR: Refusal = {
  status: 403,
  reason: 'no_second_factor',
  text: 'Your company’s sign-in did not ask for a second factor, and the console requires one. Ask its administrator.',
}
const NO_GROUP: Refusal = {
  status: 403,
  reason: 'no_group',
  text: 'None of your groups at your company may use the console.',
}
const DISABLED: Refusal = {
  status: 403,
  reason: 'disabled',
  text: 'Your account of the console is disabled.',
}
const ENDED: Refusal = {
  status: 401,
  reason: 'session_ended',
  text: 'Another person signed in, so the session has ended. Sign in again.',
}

/** The two routes of the sign-in at the identity provider. */
export function oidcRoutes(
  parts: ConsoleParts,
  settings: OidcSettings,
): readonly { readonly path: string; readonly handle: RequestHandler }[] {
  const findProvider = providerOf(settings)
  const callback = new URL(CALLBACK_PATH, parts.url)

  function refuse(response: Response, { status, reason, text }: Refusal, detail?: string): void {
    parts.log({ level: 'warn', event: 'console.oidc_refused', reason, ...(detail && { detail }) })
    const page = {
      title: 'You are not signed in',
      status,
      main: html`<p>${text}</p><p><a class="mfa-primary" href="/console/sign-in">Back to the sign-in</a></p>`,
    }
    sendPage(response, page, undefined)
  }

  const begin: RequestHandler = async (request, response) => {
    const provider = await findProvider().catch((error: unknown) => describeError(error))
    if (typeof provider === 'string') return refuse(response, UNREACHABLE, provider)
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()]
    const maxAgeSeconds = maxAgeIn(request)
    request.session.oidc = { state, nonce, verifier, maxAgeSeconds, at: Date.now() }
    const address = oidc.buildAuthorizationUrl(provider, {
      ...{ redirect_uri: callback.href, scope: settings.scope, state, nonce },
      ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      // Without it, a provider need not say when the factors were shown.
      max_age: String(maxAgeSeconds),
      ...(settings.acr.length > 0 && { acr_values: settings.acr.join(' ') }),
    })
    response.redirect(303, address.href)
  }

  const finish: RequestHandler = async (request, response, next) => {
    const begun = request.session.oidc
    delete request.session.oidc
    if (!begun || Date.now() - begun.at >= ANSWER_LIMIT_MS || request.query.state !== begun.state) {
      return refuse(response, START_AGAIN)
    }
    // Before the code is exchanged, and in one step for all processes: two answers to one request are not both taken.
    const uses = await consoleCounters(parts.store).add(`oidc:${begun.state}`, ANSWER_LIMIT_MS)
    if (uses > 1) return refuse(response, START_AGAIN)
    const claims = await claimsFor(request, begun)
    if ('refusal' in claims) return refuse(response, claims.refusal, claims.detail)
    const { evidence, role, issuer, subject } = claims
    if (!countsAsSecondFactor(evidence, settings)) return refuse(response, NO_SECOND_FACTOR)
    if (!role) return refuse(response, NO_GROUP)
    const operator = await signInExternally(parts.store, { issuer, subject, role })
    if (!operator) return refuse(response, DISABLED)
    const { returnTo } = request.session
    request.logIn(asUser({ ...operator, evidence }), (error: unknown) => {
      if (isSessionEnded(error)) return refuse(response, ENDED)
      if (error) return next(error)
      // The plugin read the same claims by its own rules, such as their age.
      if (request.mfa?.status !== 'verified') {
        return request.session.destroy(() => refuse(response, NO_SECOND_FACTOR))
      }
      response.redirect(303, localPath(request.session.returnTo ?? returnTo))
    })
  }

  async function claimsFor(request: Request, begun: Begun) {
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
      return {
        issuer: String(ownOf(claims, 'iss')),
        subject: String(ownOf(claims, 'sub')),
        role: roleIn(ownOf(claims, settings.groupsClaim), settings.groups),
        evidence: {
          issuer: settings.issuer,
          amr: ownOf(claims, 'amr'),
          acr: ownOf(claims, 'acr'),
          authTime: ownOf(claims, 'auth_time'),
        },
      }
    } catch (error) {
      const isAnswer = error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ClientError
      return { refusal: isAnswer ? PROVIDER_REFUSED : UNREACHABLE, detail: describeError(error) }
    }
  }

  return [
    { path: OIDC_PATH, handle: begin },
    { path: CALLBACK_PATH, handle: finish },
  ]
}

/** Asks the provider for its configuration when it is first needed, and again after it could not be reached. */
function providerOf(settings: OidcSettings): () => Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret } = settings
  const url = new URL(issuer)
  const execute = url.protocol === 'http:' && !isProduction() ? [oidc.allowInsecureRequests] : []
  // A provider that does not say which forms it takes takes this one (OpenID Connect Discovery 1.0 §3).
  const authenticate: oidc.ClientAuth = (server, client, body, headers) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    const form = takesPost ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret)
    return form(server, client, body, headers)
  }
  let found: Promise<oidc.Configuration> | undefined
  return () => {
    found ??= oidc
      .discovery(url, clientId, undefined, authenticate, { execute, timeout: TIMEOUT_SECONDS })
      .catch((error: unknown) => {
        found = undefined
        throw error
      })
    return found
  }
}

/** How old the factors may be: as the plugin asks for a step-up, else as old as a session. */
function maxAgeIn(request: Request): number {
  const given = request.query.max_age
  const seconds = typeof given === 'string' && /^\d{1,6}$/.test(given) ? Number(given) : SESSION_SECONDS
  return Math.min(seconds, SESSION_SECONDS)
}

function ownOf(claims: object, name: string): unknown {
  return Object.hasOwn(claims, name) ? Reflect.get(claims, name) : undefined
}

/** The most powerful role of these groups. Anything but a list of texts gives none. */
function roleIn(claim: unknown, groups: OidcSettings['groups']): Role | undefined {
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

function isSessionEnded(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ERR_MFA_SESSION_ENDED'
}

/** A path of the console; everything else leads to its first page. */
function localPath(wanted: unknown): string {
  return typeof wanted === 'string' && /^\/console(?:[/?]|$)/.test(wanted) ? wanted : '/console'
}
