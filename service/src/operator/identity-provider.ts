import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import * as z from 'zod'
import { isProduction } from '../process/production.js'
import { describeError } from '../telemetry/log/logger.js'
import { type Diagnostic, reportOn } from './diagnostic.js'
import type { Role } from './rights.js'

/** The company's identity provider (OpenID Connect). */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
  /** The claim of the ID token with the groups of a person. */
  readonly groupsClaim: string
  /** The groups whose members have each role. */
  readonly groups: Readonly<Record<Role, readonly string[]>>
  /** The values of `amr` that stand for a second factor. */
  readonly amr: readonly string[]
  /** The values of `acr` that stand for a second factor. */
  readonly acr: readonly string[]
}

/** The path of the console to which the provider leads back. */
export const CALLBACK_PATH = '/console/sign-in/oidc/callback'

const TIMEOUT_SECONDS = 5

type FindProvider = () => Promise<oidc.Configuration>

/** Asks the provider for its configuration when it is first needed, and again after it could not be reached. */
export function createFindProvider(settings: OidcSettings): FindProvider {
  const { issuer, clientId, clientSecret } = settings
  const url = new URL(issuer)
  const allowHttp = url.protocol === 'http:' && !isProduction() ? [oidc.allowInsecureRequests] : []
  const execute = [oidc.enableNonRepudiationChecks, ...allowHttp]
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

/** The error with which a provider refused a request, such as `invalid_client` (RFC 6749 §5.2); `undefined` if there is none. */
export function findOauthError(error: unknown): string | undefined {
  // The answer to a client that authenticates in the header, and fails.
  if (error instanceof oidc.WWWAuthenticateChallengeError) return 'invalid_client'
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) {
    return error.error
  }
  return undefined
}

/** The errors with which a provider refuses the console itself, for every user. */
export const CLIENT_REFUSALS: readonly unknown[] = ['invalid_client', 'unauthorized_client', 'invalid_scope']

/** Checks whether the provider can be reached, and takes client id and secret. */
export async function diagnoseIdentityProvider(settings: OidcSettings, consoleUrl = ''): Promise<Diagnostic> {
  const { ok, error } = reportOn('identity provider')
  // No provider has given this code, so one that takes the client answers `invalid_grant`.
  const request = {
    ...{ code: 'doctor', code_verifier: oidc.randomPKCECodeVerifier() },
    redirect_uri: `${consoleUrl}${CALLBACK_PATH}`,
  }
  const answer = await createFindProvider(settings)()
    .then((provider) => oidc.genericGrantRequest(provider, 'authorization_code', request))
    .catch((thrown: unknown) => thrown)
  const refusal = findOauthError(answer)
  if (refusal !== undefined && !CLIENT_REFUSALS.includes(refusal)) {
    return ok(`${settings.issuer} takes the client of the console.`)
  }
  const fault = refusal
    ? `refuses the console with ${refusal}: check SERVICE_CONSOLE_OIDC_CLIENT_ID and SERVICE_CONSOLE_OIDC_CLIENT_SECRET, which may have expired`
    : `cannot be reached, or has another issuer (${describeError(answer)}): check SERVICE_CONSOLE_OIDC_ISSUER`
  return error(`${settings.issuer} ${fault}.`)
}

const shortText = z.string().min(1).max(255)

const logoutRule = z
  .object({
    ...{ iss: z.string(), jti: shortText, sub: shortText.optional(), sid: shortText.optional() },
    events: z.object({ 'http://schemas.openid.net/event/backchannel-logout': z.looseObject({}) }),
    // Only an ID token has one.
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub ?? sid)

/** The refusal of a logout token that was used. */
export const createUsedTokenError = () => new errors.JWTInvalid('This token was used before.')

/** Whether an error refuses a logout token; others leave it open whether the token is valid. */
export function isTokenRefusal(error: unknown): boolean {
  if (error instanceof errors.JOSEError) return !/GENERIC|TIMEOUT|JWKS_INVALID/.test(error.code)
  return error instanceof z.ZodError
}

/** Reads logout tokens of a provider, at most six minutes old (OpenID Connect Back-Channel Logout 1.0 §2.6). Throws for invalid ones, and without its keys. */
export function logoutTokenReader({ clientId: audience }: OidcSettings, findProvider: FindProvider) {
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined
  return async (token: string) => {
    const { issuer, jwks_uri = '' } = (await findProvider()).serverMetadata()
    // Takes signatures by asymmetric keys only.
    keys ??= createRemoteJWKSet(new URL(jwks_uri))
    const required = { requiredClaims: ['exp'], maxTokenAge: '5m', clockTolerance: '1m' }
    // For 30 seconds after they were read, another key may be newer than these.
    const mayBeOlder = keys.coolingDown
    const { payload } = await jwtVerify(token, keys, { issuer, audience, ...required }).catch((error) => {
      throw mayBeOlder && error instanceof errors.JWKSNoMatchingKey ? new Error(error.message) : error
    })
    return logoutRule.parse(payload)
  }
}
