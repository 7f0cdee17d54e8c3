import type { Partition } from '../store/partition.js'
import { accountReference, type Keys } from '../store/secrets/keys.js'
import type { Queries } from '../store/store.js'
import { listDestinations, type OfAccount } from './account.js'
import { findUserHandle } from './account-key.js'
import { timeOfStep } from './authenticator-app/totp.js'
import type { AccountExport } from './export-schema.js'

type Exported<Member extends keyof AccountExport> = NonNullable<AccountExport[Member]>
type Item<Member extends keyof AccountExport> = Exported<Member> extends (infer One)[] ? One : never

interface AccountRow extends Pick<AccountExport, 'proven_email' | 'proven_phone' | 'language' | 'locks'> {
  readonly locked_until: number
  readonly used: Readonly<Record<string, number>>
  readonly failures: readonly {
    readonly at: number
    readonly factor: string
    readonly scope: string | null
  }[]
}

/** A time in a column, in milliseconds since 1970, as ISO 8601. */
const iso = (column: string, name = column): string =>
  `to_char(to_timestamp(${column} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${name}`

/** Everything that is stored about an account but secrets, codes and hashes, locked meanwhile (R104); `undefined` for an unknown one. */
export async function exportAccount(
  keys: Keys,
  tx: Queries,
  application: Partition,
  account: string,
): Promise<AccountExport | undefined> {
  const key = [application.id, account]
  const [row] = await tx.query<AccountRow>(
    `SELECT locked_until, lock_level AS locks, proven_email, proven_phone, locale AS language, failures, used FROM account
     WHERE application = $1 AND account = $2 FOR SHARE`,
    key,
  )
  if (!row) return undefined
  const { locked_until, failures, used, ...known } = row
  const [app] = await tx.query<Exported<'authenticator_app'> & { readonly last_step: number }>(
    `SELECT ${iso('bound_at')}, NULL AS last_code_of, ${iso('pending_since')}, last_step FROM app_secret
     WHERE application = $1 AND account = $2`,
    key,
  )
  const [backup] = await tx.query<Exported<'backup_codes'>>(
    `SELECT contact, ${iso('made_at')}, waiting_contact, ${iso('waiting_since')}, (
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
    ...known,
    locked_until: locked_until ? formatIso(locked_until) : null,
    wrong_codes: failures.map(({ at, factor, scope }) => ({ at: formatIso(at), factor, scope })),
    factors: await tx.query<Item<'factors'>>(
      `SELECT factor, failures AS wrong_codes FROM factor WHERE application = $1 AND account = $2 ORDER BY factor`,
      key,
    ),
    last_used: Object.entries(used).map(([factor, at]) => ({ factor, at: formatIso(at) })),
    authenticator_app: app ? describeApp(app) : null,
    backup_codes: backup ?? null,
    ...(await exportKeys(tx, application, account)),
    challenges: await tx.query<Item<'challenges'>>(
      `SELECT contact, type, method, purpose, transaction, attempts, sends, ${iso('created_at')},
         ${iso('expires_at')}, ${iso('ended_at')}
       FROM challenge WHERE application = $1 AND account = $2 ORDER BY challenge.created_at, method`,
      key,
    ),
    messages: await tx.query<Item<'messages'>>(
      `SELECT id, channel, masked AS "to", state AS status, attempts, carrier, carrier_id, fault, ${iso('created_at')},
         ${iso('settled_at')}
       FROM outbox WHERE application = $1 AND account = $2 ORDER BY outbox.created_at, id`,
      key,
    ),
    events: await tx.query<Item<'events'>>(
      `SELECT id, type, endpoint, ${iso('created_at', 'at')}, state AS status FROM event_delivery
       WHERE application = $1 AND account = $2 ORDER BY created_at, id`,
      key,
    ),
    approvals: await tx.query<Item<'approvals'>>(
      `SELECT action, ${iso('asked_at', 'at')} FROM approval_request
       WHERE application = $1 AND account = $2 ORDER BY asked_at, id`,
      key,
    ),
    spam_complaints: await tx.query<Item<'spam_complaints'>>(
      `SELECT email, ${iso('complained_at', 'at')} FROM mail_complaint
       WHERE application = $1 AND email = ANY ($2::text[]) ORDER BY email`,
      [application.id, await listDestinations(tx, application, account)],
    ),
    budgets: await findBudgets(tx, application, account),
  }
}

/** With the time for which the latest accepted code was made, which its step tells. */
function describeApp({ last_step, ...app }: Exported<'authenticator_app'> & { readonly last_step: number }) {
  return { ...app, last_code_of: last_step < 0 ? null : formatIso(timeOfStep(last_step)) }
}

const findBudgets: OfAccount<AccountExport['budgets']> = async (tx, application, account) => {
  const rows = await tx.query<{ counts: 'account' | 'destination'; key: string; times: readonly number[] }>(
    `SELECT scope AS counts, key, times FROM budget WHERE application = $1
       AND (scope = 'account' AND key = $2 OR scope = 'destination' AND key = ANY ($3::text[])) ORDER BY scope, key`,
    [application.id, account, await listDestinations(tx, application, account)],
  )
  return rows.map(({ counts, key, times }) => ({
    counts,
    key: counts === 'account' ? key.slice(key.indexOf(':') + 1) : key,
    sent_at: times.map(formatIso),
  }))
}

function formatIso(time: number): string {
  return new Date(time).toISOString()
}

/** The stored data about the security keys and passkeys of an account. Public keys and challenges are left out. */
const exportKeys: OfAccount<Pick<AccountExport, 'keys' | 'key_user_handle' | 'key_challenges'>> = async (
  tx,
  application,
  account,
) => {
  const key = [application.id, account]
  return {
    keys: await tx.query<Item<'keys'>>(
      `SELECT id, method, name, aaguid AS authenticator, counter, backup_eligible, backed_up, transports,
         ${iso('created_at')}, ${iso('last_used_at')}
       FROM account_key WHERE application = $1 AND account = $2 ORDER BY account_key.created_at, id`,
      key,
    ),
    key_user_handle: (await findUserHandle(tx, application, account)) ?? null,
    key_challenges: await tx.query<Item<'key_challenges'>>(
      `SELECT method, purpose, transaction, ${iso('expires_at')} FROM key_challenge
       WHERE application = $1 AND account = $2 ORDER BY key_challenge.expires_at`,
      key,
    ),
  }
}
