import type { Queries } from '../store/store.js'
import { CONSOLE_APPLICATION } from './operator-account.js'
import { OperatorError } from './operator-error.js'

/**
 * Throws an `OperatorError` when this operator is the only administrator who can sign in. The rows of all administrators are
 * locked until the end of the transaction, so that two of them cannot end each other's account at once.
 */
export async function requireOtherAdmin(tx: Queries, email: string): Promise<void> {
  const admins = await tx.query<{ email: string; is_complete: boolean }>(
    `SELECT email, password IS NOT NULL AND (app_enrolled_at IS NOT NULL OR EXISTS (
       SELECT FROM account_key WHERE application = $1 AND account = 'account:' || email)) AS is_complete
     FROM operator_account WHERE role = 'admin' AND disabled_at IS NULL ORDER BY email FOR UPDATE`,
    [CONSOLE_APPLICATION],
  )
  const complete = admins.filter((admin) => admin.is_complete).map((admin) => admin.email)
  if (complete.length === 1 && complete[0] === email) {
    throw new OperatorError(
      `${email} is the only administrator who can sign in: invite another one first, who then signs in.`,
    )
  }
}
