import { queryOne } from '../store/store.js'
import { type Actor, changeWithAudit } from './audited-change.js'

/** The treatment of the backup codes of a restored database, which may have been used. */
export const BACKUP_CODE_CHOICES = ['keep', 'drop'] as const

/** A restore of the database to an earlier time. */
export interface Restore {
  /** The time to which it was restored, in milliseconds since 1970, like all times here. */
  readonly at: number
  /** `drop` deletes all of them; with `keep`, those that were used after the time are valid again. */
  readonly backupCodes: (typeof BACKUP_CODE_CHOICES)[number]
}

/** The rows made void, and those that may be wrong. */
export interface Restored {
  /** How much of what can be used once was made void, by its kind. */
  readonly voided: Readonly<Record<string, number>>
  /**
   * The rows that were valid at the time and may have been revoked, disabled or changed since: API keys, operators with their roles, and the
   * addresses to which messages and events are posted.
   */
  readonly unconfirmed: readonly {
    readonly kind: 'API key' | 'operator' | 'webhook'
    /** The application; empty for operators. */
    readonly application: string
    /** The id or email address, as commands take it. */
    readonly name: string
    /** The beginning, end and label of a key, the role of an operator, or the address of a webhook. */
    readonly detail: string
    readonly createdAt: number
    readonly lastUsedAt: number | null
  }[]
}

const UNCONFIRMED = `
  SELECT 'API key' AS kind, application, id AS name, trim(hint || ' ' || label) AS detail, created_at AS "createdAt",
    last_used_at AS "lastUsedAt" FROM api_key WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) AND created_at <= $1
  UNION ALL SELECT 'operator', '', email, role, created_at, signed_in_at FROM operator_account
    WHERE disabled_at IS NULL AND created_at <= $1
  UNION ALL SELECT 'webhook', application, id, url, created_at, NULL FROM event_endpoint WHERE disabled_at IS NULL AND created_at <= $1
  UNION ALL SELECT 'webhook', application, '', url, changed_at, NULL FROM application_webhook WHERE changed_at <= $1
  ORDER BY 1, 2, 5, 3`

const STEP_MS = 30_000
/** Codes of an app are accepted up to one step early, which takes a minute in some imported apps. */
const STEPS_AHEAD = 2

/** Statements that void what may have been used after the time, by its kind. Numbers need no parameters. */
const voiding = (now: number, backupCodes: Restore['backupCodes']): Readonly<Record<string, string>> => ({
  codes: `UPDATE challenge SET ended_at = ${now} WHERE ended_at IS NULL`,
  'key challenges': 'DELETE FROM key_challenge',
  // Sets of backup codes name the messages that they wait for.
  messages: `UPDATE outbox SET expires_at = ${now} WHERE settled_at IS NULL AND (challenge IS NOT NULL
    ${backupCodes === 'drop' ? 'OR id IN (SELECT unnest(waiting_messages) FROM backup_set)' : ''})`,
  'app codes': `UPDATE app_secret SET pending = NULL, pending_since = NULL,
    last_step = greatest(last_step, ${Math.floor(now / STEP_MS) + STEPS_AHEAD})`,
  ...(backupCodes === 'drop' && {
    'backup codes': 'DELETE FROM backup_code',
    'sets of backup codes': 'DELETE FROM backup_set',
  }),
  answers: 'DELETE FROM idempotent_request',
  tickets: 'DELETE FROM stream_ticket',
  sessions: 'DELETE FROM console_session',
  'requests for consent': 'DELETE FROM approval_request',
  // Also the hour in which a password alone may set up a second factor.
  invitations: `UPDATE operator_account SET invitation = NULL, enroll_until = 0
    WHERE invitation IS NOT NULL OR enroll_until > ${now}`,
})

/** Voids, after a restore, what can be used once: it may have been used since. Lists what was valid then and may not be any more. */
export async function recordRestore(actor: Actor, { at, backupCodes }: Restore): Promise<Restored> {
  const { store } = actor
  const now = Date.now()
  // Each statement looks through a whole table.
  const { transaction } = store.background
  const voided = await changeWithAudit({ ...actor, store: { ...store, transaction } }, async (tx, record) => {
    const counts: Record<string, number> = {}
    for (const [kind, statement] of Object.entries(voiding(now, backupCodes))) {
      const sql = `WITH voided AS (${statement} RETURNING 1) SELECT count(*)::integer AS count FROM voided`
      counts[kind] = (await queryOne<{ count: number }>(tx, sql, []))?.count ?? 0
    }
    const detail = `to ${new Date(at).toISOString()}, backup codes: ${backupCodes}`
    record({ action: 'service.restored', detail })
    return counts
  })
  const unconfirmed = await store.query<Restored['unconfirmed'][number]>(UNCONFIRMED, [at, now])
  return { voided, unconfirmed }
}
