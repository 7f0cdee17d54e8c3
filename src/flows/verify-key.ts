import { keyAmr } from '../protocol/amr.js'
import type { Factor } from '../protocol/factor.js'
import type { AuthenticateKeyAnswer, KeyOptions, KeyResponse } from '../protocol/keys.js'
import { isKeyMethod, type KeyMethod } from '../protocol/methods.js'
import type { MfaRecord } from '../session/record.js'
import { askService } from './deliver.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { factorBinding } from './factor-binding.js'
import { purposeOf } from './purpose.js'
import { fromService } from './refusal.js'
import { callerOf, findFactor, type MfaUser, refusalWithoutFactor } from './user.js'
import { type AcceptedCode, challengeIdFor, checkShown } from './verify.js'

/** The response of a key for one of the user's factors. `factor` is its id or method; it defaults to that of the live challenge. */
export interface KeyAssertion {
  readonly response: KeyResponse
  readonly factor?: string | undefined
}

/** The options for the browser. */
export interface PreparedAssertion {
  readonly outcome: 'prepared'
  readonly options: KeyOptions
  /** When the challenge of the service expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

/** Has the service create the challenge that a key signs. */
export async function prepareAssertion(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  factor: KeyFactor,
): Promise<PreparedAssertion | Refused> {
  const { keys } = deps
  if (!keys) return refuse({ code: 'method_off' })
  const { method, contact } = factor
  const { transaction } = record
  const request = { contact, method, purpose: purposeOf(record), transaction, ...callerOf(user) }
  const answer = await askService(deps, user.userId, () => keys.authenticationOptions(request))
  if (answer.outcome === 'refused') return refuse(fromService(answer.refusal))
  const { options, expiresInSeconds } = answer
  return { outcome: 'prepared', options, expiresAt: Date.now() + expiresInSeconds * 1000 }
}

/** Checks the response of a key for one of the user's factors, in the limits that all codes have (R20). */
export async function verifyKey(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  { response, factor: name = record.challenge?.factorId }: KeyAssertion,
): Promise<AcceptedCode | Refused> {
  const none = refusalWithoutFactor(user)
  if (none) return refuse(none)
  if (name === undefined) return refuse({ code: 'no_challenge' })
  const factor = keyFactorOf(user, name)
  if (!factor) return refuse({ code: 'unknown_factor' })
  const { keys } = deps
  if (!keys) return refuse({ code: 'method_off' })
  const { id, method, contact } = factor
  const { transaction } = record
  const { userId } = user
  const request = { contact, method, purpose: purposeOf(record), transaction, response, ...callerOf(user) }
  const verdict = await checkShown<Extract<AuthenticateKeyAnswer, { outcome: 'valid' }>>(deps, {
    attempt: {
      userId,
      challenge: challengeIdFor(record, id),
      binding: factorBinding(userId, method, contact),
    },
    approval: transaction,
    factor: { method, contact },
    evaluate: () => askService(deps, userId, () => keys.authenticate(request)),
  })
  if (verdict.outcome === 'refused') return verdict
  const { key, userVerified } = verdict
  return { outcome: 'accepted', method, shown: method, amr: keyAmr(key, userVerified) }
}

/** A factor that is confirmed with a key. */
export type KeyFactor = Factor & { readonly method: KeyMethod }

/** The user's key factor with that id or method. */
export function keyFactorOf(user: MfaUser, name: string): KeyFactor | undefined {
  const factor = findFactor(user, name)
  return factor && isKeyMethod(factor.method) ? { ...factor, method: factor.method } : undefined
}
