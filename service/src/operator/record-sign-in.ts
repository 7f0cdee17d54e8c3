import type { KeyMethod } from 'countersign/protocol'
import type { Actor } from './actor.js'
import { auditedChange } from './audited-change.js'

/** A change of their second factors that an operator made themselves. */
export interface OwnFactorChange {
  /** The kind of factor. */
  readonly method: 'app' | KeyMethod
  /** What happened to it. */
  readonly change: 'added' | 'removed'
}

/** Notes that the operator who acts has added or removed a second factor of the console. */
export async function recordOwnFactor(actor: Actor, { method, change }: OwnFactorChange): Promise<void> {
  const isAdded = change === 'added'
  const now = Date.now()
  await auditedChange(
    actor,
    (tx) =>
      tx.query(
        // Of keys, the service knows which ones there are.
        `UPDATE operator_account SET
           signed_in_at = CASE WHEN $2::boolean THEN $3::bigint ELSE signed_in_at END,
           app_enrolled_at = CASE WHEN $4::boolean THEN $5::bigint ELSE app_enrolled_at END
         WHERE email = $1`,
        [actor.name, isAdded, now, method === 'app', isAdded ? now : null],
      ),
    () => ({ application: '', action: `operator.factor_${change}`, detail: `${actor.name} ${method}` }),
  )
}

/** Notes that the operator who acts has signed in with both factors. */
export async function recordSignIn(actor: Actor): Promise<void> {
  await auditedChange(
    actor,
    (tx) =>
      tx.query('UPDATE operator_account SET signed_in_at = $2 WHERE email = $1', [actor.name, Date.now()]),
    () => ({ application: '', action: 'operator.signed_in', detail: actor.name }),
  )
}
