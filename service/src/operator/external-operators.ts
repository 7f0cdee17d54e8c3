import type { Store } from '../store/store.js'
import { writeAudit } from './audited-change.js'
import { consoleLimits } from './console-counters.js'
import { operator } from './operator.js'
import { canonicalEmail, externalName, findOperator, type OperatorAccount } from './operator-account.js'
import { relateSameEmail } from './operator-relations.js'
import type { Role } from './rights.js'

/** Who an identity provider says has signed in, and what their groups let them do. */
export interface ExternalSignIn {
  readonly issuer: string
  readonly subject: string
  readonly role: Role
  /** Their email address, if the identity provider has verified it. */
  readonly verifiedEmail: string | null
  /** The id of their session at the identity provider, if it says one. */
  readonly session: string | undefined
}

/**
 * The account of an operator who signed in at the identity provider, with the role of now; it is created at the first sign-in. It is never that
 * of a local account, whatever their email address is, but counts as one person with the accounts that have their verified one (R137).
 * The audit log names issuer and subject. `undefined` if the account is disabled.
 */
export async function signInExternally(
  store: Store,
  { issuer, subject, role, verifiedEmail, session }: ExternalSignIn,
): Promise<OperatorAccount | undefined> {
  const name = externalName(issuer, subject)
  const now = Date.now()
  return store.transaction(async (tx) => {
    const [row] = await tx.query(
      `INSERT INTO operator_account AS known (email, role, issuer, subject, created_at, signed_in_at, verified_email)
       VALUES ($1, $2, $3, $4, $5, $5, $6)
       ON CONFLICT (email) DO UPDATE SET role = EXCLUDED.role, signed_in_at = EXCLUDED.signed_in_at,
         verified_email = coalesce(EXCLUDED.verified_email, known.verified_email)
       WHERE known.disabled_at IS NULL RETURNING email`,
      [name, role, issuer, subject, now, verifiedEmail && canonicalEmail(verifiedEmail)],
    )
    if (!row) return undefined
    await relateSameEmail(tx, name)
    if (session) {
      const [kept, key] = [consoleLimits(tx), sessionKey(session)]
      await kept.replace(key, await kept.read(key), name, SESSION_MS)
    }
    await writeAudit(tx, name, { action: 'operator.signed_in', detail: `${name} ${role}` })
    return findOperator(tx, name)
  })
}

/** How long a session of the console lasts, however it is used. */
export const SESSION_MS = 12 * 3_600_000

function sessionKey(session: string): string {
  return `oidc:session:${session}`
}

/** Ends the sessions of an operator, named by subject or by a session at the provider. There may be none. */
export async function endExternalSessions(
  store: Store,
  { iss, sub, sid = '' }: { readonly iss: string; sub?: string | undefined; sid?: string | undefined },
): Promise<void> {
  const name = sub === undefined ? await consoleLimits(store).read(sessionKey(sid)) : externalName(iss, sub)
  if (name === undefined || !(await findOperator(store, name))) return
  await operator(store, iss).endOperatorSessions(name)
}
