import { accountReference, type Keys } from '../store/secrets/keys.js'
import { type Queries, queryOne } from '../store/store.js'
import { destinationsOf } from './account.js'
import { findUserHandle, listKeys } from './account-key.js'
import type { Application } from './application.js'
import { timeOfStep } from './authenticator-app/totp.js'
import type { AccountExport } from './export-schema.js'

type Times<Names extends string> = { readonly [Name in Names]: number | null }

interface AccountRow extends Times<'locked_until'> {
  readonly lock_level: number
  readonly proven_email: string | null
  readonly proven_phone: string | null
  readonly locale: string | null
  readonly used: Readonly<Record<string, number>>
  readonly failures: readonly {
    readonly at: number
    readonly factor: string
    readonly scope: string | null
  }[]
}

interface AppRow extends Times<'bound_at' | 'pending_since'> {
  readonly last_step: number
}

interface BackupRow extends Times<'made_at' | 'waiting_since'> {
  readonly contact: string | null
  readonly waiting_contact: string | null
  readonly left: number
}

/**
 * Everything that is stored about an account, which is locked meanwhile (R104). Secrets, codes and their hashes are left out.
 * Resolves to `undefined` when the account is unknown.
 */
export async function exportAccount(
  keys: Keys,
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<AccountExport | undefined> {
  const key = [application.id, account]
  const row = await queryOne<AccountRow>(
    tx,
    `SELECT locked_until, lock_level, proven_email, proven_phone, locale, failures, used FROM account
     WHERE application = $1 AND account = $2 FOR SHARE`,
    key,
  )
  if (!row) return undefined
  const app = await queryOne<AppRow>(
    tx,
    `SELECT bound_at, pending_since, last_step FROM app_secret WHERE application = $1 AND account = $2`,
    key,
  )
  const backup = await queryOne<BackupRow>(
    tx,
    `SELECT contact, made_at, waiting_contact, waiting_since, (
       SELECT count(*)::integer FROM backup_code WHERE application = $1 AND account = $2
         AND salt = backup_set.salt) AS "left"
     FROM backup_set WHERE application = $1 AND account = $2`,
    key,
  )
  const name = account.slice(account.indexOf(':') + 1)
  const isNamed = account.startsWith('account:')
  return {
    application: application.id,
    account: isNamed ? name : null,
    user: isNamed ? null : name,
    reference: accountReference(keys, application.id, account),
    exported_at: new Date().toISOString(),
    proven_email: row.proven_email,
    proven_phone: row.proven_phone,
    language: row.locale,
    locked_until: row.locked_until ? iso(row.locked_until) : null,
    locks: row.lock_level,
    wrong_codes: row.failures.map(({ at, factor, scope }) => ({ at: iso(at), factor, scope })),
    factors: await tx.query<AccountExport['factors'][number]>(
      `SELECT factor, failures AS wrong_codes FROM factor WHERE application = $1 AND account = $2 ORDER BY factor`,
      key,
    ),
    last_used: Object.entries(row.used).map(([factor, at]) => ({ factor, at: iso(at) })),
    authenticator_app: app
      ? {
          bound_at: isoOrNull(app.bound_at),
          last_code_of: app.last_step < 0 ? null : iso(timeOfStep(app.last_step)),
          pending_since: isoOrNull(app.pending_since),
        }
      : null,
    backup_codes: backup
      ? {
          contact: backup.contact,
          made_at: isoOrNull(backup.made_at),
          left: backup.left,
          waiting_contact: backup.waiting_contact,
          waiting_since: isoOrNull(backup.waiting_since),
        }
      : null,
    ...(await exportKeys(tx, application, account)),
    challenges: await challengesOf(tx, key),
    messages: await messagesOf(tx, key),
    events: await eventsOf(tx, key),
    approvals: await approvalsOf(tx, key),
    spam_complaints: await complaintsOf(tx, application, account),
    budgets: await budgetsOf(tx, application, account),
  }
}

async function challengesOf(tx: Queries, key: readonly string[]): Promise<AccountExport['challenges']> {
  const rows = await tx.query<
    Omit<AccountExport['challenges'][number], 'created_at' | 'expires_at' | 'ended_at'> & {
      created_at: number
      expires_at: number
      ended_at: number | null
    }
  >(
    `SELECT contact, type, method, purpose, transaction, attempts, sends, created_at, expires_at, ended_at
     FROM challenge WHERE application = $1 AND account = $2 ORDER BY created_at, method`,
    key,
  )
  return rows.map(({ created_at, expires_at, ended_at, ...challenge }) => ({
    ...challenge,
    created_at: iso(created_at),
    expires_at: iso(expires_at),
    ended_at: isoOrNull(ended_at),
  }))
}

async function messagesOf(tx: Queries, key: readonly string[]): Promise<AccountExport['messages']> {
  const rows = await tx.query<
    Omit<AccountExport['messages'][number], 'created_at' | 'settled_at'> & {
      created_at: number
      settled_at: number | null
    }
  >(
    `SELECT id, channel, masked AS "to", state AS status, attempts, carrier, carrier_id, fault, created_at, settled_at
     FROM outbox WHERE application = $1 AND account = $2 ORDER BY created_at, id`,
    key,
  )
  return rows.map(({ created_at, settled_at, ...message }) => ({
    ...message,
    created_at: iso(created_at),
    settled_at: isoOrNull(settled_at),
  }))
}

async function eventsOf(tx: Queries, key: readonly string[]): Promise<AccountExport['events']> {
  const rows = await tx.query<Omit<AccountExport['events'][number], 'at'> & { at: number }>(
    `SELECT id, type, endpoint, created_at AS at, state AS status FROM event_delivery
     WHERE application = $1 AND account = $2 ORDER BY created_at, id`,
    key,
  )
  return rows.map(({ at, ...event }) => ({ ...event, at: iso(at) }))
}

async function approvalsOf(tx: Queries, key: readonly string[]): Promise<AccountExport['approvals']> {
  const rows = await tx.query<{ action: string; at: number }>(
    `SELECT action, asked_at AS at FROM approval_request WHERE application = $1 AND account = $2 ORDER BY asked_at, id`,
    key,
  )
  return rows.map(({ action, at }) => ({ action, at: iso(at) }))
}

async function complaintsOf(
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<AccountExport['spam_complaints']> {
  const rows = await tx.query<{ email: string; complained_at: number }>(
    `SELECT email, complained_at FROM mail_complaint WHERE application = $1 AND email = ANY ($2::text[]) ORDER BY email`,
    [application.id, await destinationsOf(tx, application, account)],
  )
  return rows.map(({ email, complained_at }) => ({ email, at: iso(complained_at) }))
}

async function budgetsOf(
  tx: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<AccountExport['budgets']> {
  const rows = await tx.query<{ counts: 'account' | 'destination'; key: string; times: readonly number[] }>(
    `SELECT scope AS counts, key, times FROM budget WHERE application = $1
       AND (scope = 'account' AND key = $2 OR scope = 'destination' AND key = ANY ($3::text[])) ORDER BY scope, key`,
    [application.id, account, await destinationsOf(tx, application, account)],
  )
  return rows.map(({ counts, key, times }) => ({
    counts,
    key: counts === 'account' ? key.slice(key.indexOf(':') + 1) : key,
    sent_at: times.map(iso),
  }))
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time)
}

/** What is stored about the security keys and passkeys of an account. Public keys and challenges are left out. */
async function exportKeys(
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
