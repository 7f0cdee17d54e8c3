import { ServiceError } from '../errors.js'
import { readJson } from '../json.js'
import { SIGN_IN_SCOPES } from '../protocol/verbs.js'
import { API_KEY_INFO, apiKeyInfo, type Scope, SERVICE_IDENTITY, serviceIdentity } from '../protocol/wire.js'
import type { Answer, Transport } from './transport.js'

/** Time limit for the question which service it is, in addition to the time of the first call. */
const IDENTITY_TIMEOUT_MS = 2_000

/** Asks which service it is. @throws {ServiceError} unless it is the Countersign service. */
export async function askIdentity(
  transport: Transport,
  timeoutMs: number,
  onUnrecognized: () => void,
): Promise<void> {
  const limitMs = Math.min(timeoutMs, IDENTITY_TIMEOUT_MS)
  const answer = await transport
    .get(SERVICE_IDENTITY, limitMs, { withKey: false })
    .catch((error: unknown) => {
      throw createIdentityError('could not be asked', error)
    })
  if (isCountersign(answer)) return
  if (isOutage(answer)) throw createIdentityError(`failed (status ${answer.status})`)
  onUnrecognized()
  throw createIdentityError(
    `gave another answer (status ${answer.status}); a service that speaks the published API needs service.dialect: 'published'`,
  )
}

function isCountersign({ status, body, isCountersign }: Answer): boolean {
  if (isCountersign) return true
  return status === 200 && serviceIdentity.safeParse(readJson(body)).success
}

/** Whether the response comes from an overloaded or failing service. */
function isOutage({ status }: Answer): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** The call itself was not sent, so nothing is counted. */
function createIdentityError(what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service has not identified itself as the Countersign service: GET ${SERVICE_IDENTITY} ${what}. Nobody is signed in until it does. Check service.baseUrl, and what answers there.`,
    { cause, effect: 'none' },
  )
}

/** Asks which scopes the API key has. No call waits for it, and without an answer the calls themselves say what is missing. */
export async function checkScopes(
  transport: Transport,
  timeoutMs: number,
  onMissing: (missing: readonly Scope[]) => void,
): Promise<void> {
  const limitMs = Math.min(timeoutMs, IDENTITY_TIMEOUT_MS)
  const answer = await transport.get(API_KEY_INFO, limitMs).catch(() => undefined)
  if (answer?.status !== 200) return
  const info = apiKeyInfo.safeParse(readJson(answer.body)).data
  const missing = SIGN_IN_SCOPES.filter((scope) => info && !info.scopes.includes(scope))
  if (missing.length > 0) onMissing(missing)
}
