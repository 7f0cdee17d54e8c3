import type { Application } from '../application.js'
import type { Queries } from '../store/store.js'
import { findUserHandle, listKeys } from './account-key.js'
import type { AccountExport } from './export-schema.js'

/** What is stored about the security keys and passkeys of an account. Public keys and challenges are left out. */
export async function exportKeys(
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<Pick<AccountExport, 'keys' | 'key_user_handle' | 'key_challenges'>> {
  const keys = await listKeys(tx, application, account)
  const challenges = await tx.query<
    Omit<AccountExport['key_challenges'][number], 'expires_at'> & { readonly expires_at: number }
  >(
    `SELECT method, purpose, transaction, expires_at FROM key_challenge
     WHERE application = $1 AND account = $2 ORDER BY expires_at`,
    [application.id, account],
  )
  return {
    keys: keys.map((row) => ({
      id: row.id,
      method: row.method,
      name: row.name,
      authenticator: row.aaguid,
      counter: row.counter,
      backup_eligible: row.backup_eligible,
      backed_up: row.backed_up,
      transports: [...row.transports],
      created_at: iso(row.created_at),
      last_used_at: row.last_used_at === null ? null : iso(row.last_used_at),
    })),
    key_user_handle: (await findUserHandle(tx, application, account)) ?? null,
    key_challenges: challenges.map((row) => ({ ...row, expires_at: iso(row.expires_at) })),
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
