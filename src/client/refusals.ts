import * as z from 'zod'
import { ServiceError } from '../errors.js'
import { readJson } from '../json.js'
import type { KeyFault } from '../protocol/keys.js'
import { keyFault } from '../protocol/keys-wire.js'
import { REFUSAL_REASONS, type Refused, type ServiceRefusal } from '../protocol/service-refusal.js'
import { invalidResponse } from './response-validation.js'
import type { Answer } from './transport.js'

/** The wait after a 429 response without `Retry-After`. */
export const DEFAULT_WAIT_SECONDS = 60
const BUSY_WAIT_SECONDS = 1

// The Countersign service puts a code into its problem responses. Codes of other services are ignored.
const problem = z.object({ code: z.string() })

const keyProblem = z.object({ code: z.literal('invalid_key'), fault: keyFault })

const scopeProblem = z.object({ code: z.literal('missing_scope'), scope: z.string().regex(/^[a-z-]{1,64}$/) })

// At most a day of 30-second steps.
const clockHint = z.object({ code: z.literal('invalid_code'), clock_steps: z.int().min(-2_880).max(2_880) })

/** The Countersign service is still handling a request with the same idempotency key. */
const IN_FLIGHT = 'idempotency_key_in_flight'

/** The Countersign service is handling as many requests of the account as it allows. It has done nothing for this one. */
const ACCOUNT_BUSY = 'account_busy'

/** Reads a refusal; `refuseTooMany` is a 429 without a reason. @throws {ServiceError} if the response is none. */
export function readRefusal(answer: Answer, tooMany: 'limited' | 'locked' = 'limited'): Refused {
  if (answer.status < 400) throw invalidResponse(`unexpected status ${answer.status}`)
  const code = problemCode(answer)
  if (answer.status === 401 || (answer.status === 403 && !isRefusalCode(code))) throw keyRefused(answer)
  if (code === ACCOUNT_BUSY) throw accountBusy(answer)
  if (answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return createRefusal({
      reason: code === 'locked' || code === 'limited' ? code : tooMany,
      retryAfterSeconds,
    })
  }
  if (isRefusalCode(code)) return createRefusal({ reason: code })
  if (answer.status >= 500) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The MFA service reported an internal error (status ${answer.status}). See its log.`,
      { effect: isGatewayStatus(answer.status) ? 'unknown' : 'none' },
    )
  }
  throw new ServiceError(
    'ERR_MFA_SERVICE_REQUEST',
    `The MFA service rejected the request as invalid (status ${answer.status}). Check that service.dialect matches the service.`,
    { effect: code === IN_FLIGHT ? 'unknown' : 'none' },
  )
}

/** Whether a proxy, which may have forwarded the request, says that it got no response (RFC 9110 §15.6.3, §15.6.5; CDNs: 520 on). */
function isGatewayStatus(status: number): boolean {
  return status === 502 || status === 504 || status >= 520
}

/** Whether a 401 response refuses the API key rather than the code. */
export function isKeyRefusal(answer: Answer): boolean {
  const code = problemCode(answer)
  // RFC 9110 §15.5.2 requires the header with every 401, so the code in the body has precedence.
  const isAboutFactor = code === 'invalid_code' || code === 'invalid_key'
  return code === 'invalid_api_key' || (answer.challengesKey && !isAboutFactor)
}

/** The error for an API key that the service does not accept, or not for this call. */
export function keyRefused(answer?: Answer): ServiceError {
  const lacking = answer && scopeProblem.safeParse(readJson(answer.body)).data
  const message = lacking
    ? `The API key lacks the scope "${lacking.scope}", which this call to the MFA service needs. Create a key with it: countersign-service key create <application> --scopes …,${lacking.scope}`
    : 'The MFA service does not accept the API key. Check service.apiKey (MFA_API_KEY), and that the key was not revoked and has not expired.'
  return new ServiceError('ERR_MFA_SERVICE_KEY', message)
}

function accountBusy({ retryAfterSeconds = BUSY_WAIT_SECONDS }: Answer): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_BUSY',
    'The MFA service is handling as many requests of this account as it allows. The limit is SERVICE_REQUESTS_PER_ACCOUNT.',
    { retryAfterSeconds },
  )
}

/** The code in a problem response of the Countersign service; empty if there is none. */
export function problemCode(answer: Answer): string {
  return problem.safeParse(readJson(answer.body)).data?.code ?? ''
}

/** How many time steps ago a refused app code was valid, if the Countersign service says so. */
export function readClockSteps(answer: Answer): number | undefined {
  return clockHint.safeParse(readJson(answer.body)).data?.clock_steps
}

/** Why the service refused the response of a key; `undefined` if it did not. */
export function keyFaultIn(answer: Answer): KeyFault | undefined {
  return answer.status === 401 ? keyProblem.safeParse(readJson(answer.body)).data?.fault : undefined
}

function isRefusalCode(code: string): code is Exclude<ServiceRefusal['reason'], 'limited' | 'locked'> {
  return REFUSAL_REASONS.includes(code) && code !== 'limited' && code !== 'locked'
}

function createRefusal(refusal: ServiceRefusal): Refused {
  return { outcome: 'refused', refusal }
}
