import { queryOne, type Store } from '../store/store.js'
import { externalName, findOperator, type OperatorAccount } from './operator-account.js'
import type { Role } from './rights.js'

/** Who an identity provider says has signed in, and what their groups let them do. */
export interface ExternalSignIn {
  readonly issuer: string
  readonly subject: string
  readonly role: Role
}

/**
 * The account of an operator who signed in at the identity provider, with the role of now; it is created at the first sign-in. It is never that
 * of a local account, whatever their email address is. The audit log names issuer and subject. `undefined` if the account is disabled.
 */
export async function signInExternally(
  store: Store,
  { issuer, subject, role }: ExternalSignIn,
): Promise<OperatorAccount | undefined> {
  const name = externalName(issuer, subject)
  const now = Date.now()
  return store.transaction(async (tx) => {
    const row = await queryOne(
      tx,
      `INSERT INTO operator_account AS known (email, role, issuer, subject, created_at, signed_in_at)
       VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (email) DO UPDATE SET role = EXCLUDED.role, signed_in_at = EXCLUDED.signed_in_at
       WHERE known.disabled_at IS NULL RETURNING email`,
      [name, role, issuer, subject, now],
    )
    if (!row) return undefined
    await tx.query('INSERT INTO audit (application, at, who, action, detail) VALUES ($1, $2, $3, $4, $5)', [
      ...['', now, name, 'operator.signed_in'],
      `${name} ${role}`,
    ])
    return findOperator(tx, name)
  })
}
