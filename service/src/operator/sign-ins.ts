import type { KeyMethod } from 'countersign/protocol'
import { textHash } from '../store/secrets/hash.js'
import { isPassword } from '../store/secrets/password.js'
import type { Store } from '../store/store.js'
import { MINUTE_MS } from '../time.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { type ConsoleCounters, consoleCounters } from './console-counters.js'
import {
  canonicalEmail,
  createOperatorAccount,
  findOperatorRow,
  type OperatorAccount,
} from './operator-account.js'

/** How often passwords are checked: for one account from one network, for one account, and from one network. */
const PER_NETWORK = { attempts: 10, windowMs: 15 * MINUTE_MS }
const FROM_NETWORK = { attempts: 100, windowMs: 15 * MINUTE_MS }
const PER_ACCOUNT = { attempts: 100, windowMs: 24 * 60 * MINUTE_MS }

/** The result of a password: the operator, or why there is none. */
export type PasswordResult =
  | { readonly outcome: 'accepted'; readonly operator: OperatorAccount }
  | { readonly outcome: 'refused' | 'too_many_attempts' }

/**
 * Checks an operator's password. Every attempt is counted before the password is checked (R22), and an unknown address
 * takes as long and counts as much as a known one (R90). An operator without a second factor is refused when the hour in which
 * they could set one up is over.
 */
export async function checkSignIn(
  store: Store,
  given: { readonly email: string; readonly password: string; readonly network: string },
): Promise<PasswordResult> {
  const email = canonicalEmail(given.email)
  const counters = consoleCounters(store)
  // Hashes have one length, whatever was typed; addresses without an account are not stored readably.
  const fromNetwork = `password:${textHash(`${email} ${given.network}`)}`
  const isAllowed =
    (await isWithin(counters, `password:network:${textHash(given.network)}`, FROM_NETWORK)) &&
    (await isWithin(counters, fromNetwork, PER_NETWORK)) &&
    (await isWithin(counters, `password:${textHash(email)}`, PER_ACCOUNT))
  if (!isAllowed) return { outcome: 'too_many_attempts' }
  const row = await findOperatorRow(store, email)
  const isCorrect = await isPassword(given.password, row?.password ?? null)
  if (!row || !isCorrect) return { outcome: 'refused' }
  const operator = createOperatorAccount(row)
  const hasFactor = operator.hasApp || operator.keys.length > 0
  if (!hasFactor && row.enroll_until <= Date.now()) return { outcome: 'refused' }
  await counters.remove(fromNetwork)
  return { outcome: 'accepted', operator }
}

async function isWithin(
  counters: ConsoleCounters,
  key: string,
  { attempts, windowMs }: { readonly attempts: number; readonly windowMs: number },
): Promise<boolean> {
  return (await counters.add(key, windowMs)) <= attempts
}

/** A change of their second factors that an operator made themselves. */
export interface OwnFactorChange {
  /** The kind of factor. */
  readonly method: 'app' | KeyMethod
  /** Whether it was added or removed. */
  readonly change: 'added' | 'removed'
}

/** Records that an operator added or removed a factor of their own. */
export async function recordOwnFactor(actor: Actor, { method, change }: OwnFactorChange): Promise<void> {
  const isAdded = change === 'added'
  const now = Date.now()
  await changeRows(actor, {
    ...{ action: `operator.factor_${change}`, detail: `${actor.name} ${method}` },
    // Of keys, the service knows which ones there are.
    sql: `UPDATE operator_account SET
        signed_in_at = CASE WHEN $2::boolean THEN $3::bigint ELSE signed_in_at END,
        app_enrolled_at = CASE WHEN $4::boolean THEN $5::bigint ELSE app_enrolled_at END
      WHERE email = $1`,
    values: [actor.name, isAdded, now, method === 'app', isAdded ? now : null],
  })
}

/** Records that an operator signed in. */
export async function recordSignIn(actor: Actor): Promise<void> {
  await changeRows(actor, {
    ...{ action: 'operator.signed_in', detail: actor.name },
    sql: 'UPDATE operator_account SET signed_in_at = $2 WHERE email = $1',
    values: [actor.name, Date.now()],
  })
}
