import { randomBytes } from 'node:crypto'
import type { Mode } from '../application.js'
import { hashApiKey, hintOf, newApiKey } from '../applications/api-key.js'
import { writeEvent } from '../events/write-events.js'
import { queryOne } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'

/** An API key in a list, without the key itself. */
export interface KeySummary {
  /** Identifies the key in commands. */
  readonly id: string
  /** `test` keys have their own data and deliver nothing. */
  readonly mode: Mode
  /** What it is for, in the operator's words. */
  readonly label: string
  /** Its beginning and end, to recognize it. */
  readonly hint: string
  /** When it was created, in milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** When it was last used, to the hour; `null` if never. */
  readonly lastUsedAt: number | null
  /** When it was revoked; `null` while it is valid. */
  readonly revokedAt: number | null
}

const LABEL = /^[^\p{Cc}]{0,80}$/u

/** Creates an API key. `key` is returned this once and stored only as a hash (R85). */
export async function createKey(
  actor: Actor,
  application: string,
  { mode, label = '' }: { readonly mode: Mode; readonly label?: string | undefined },
): Promise<{ readonly id: string; readonly key: string }> {
  if (!LABEL.test(label)) {
    throw new OperatorError('A label has at most 80 characters and no control characters.')
  }
  const key = newApiKey(mode)
  const id = `key_${randomBytes(5).toString('hex')}`
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      await tx.query(
        `INSERT INTO api_key (application, id, hash, mode, label, hint, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [application, id, hashApiKey(key), mode, label, hintOf(key), Date.now()],
      )
    },
    () => ({ application, action: 'key.created', detail: `${id} ${hintOf(key)} ${label}`.trim() }),
  )
  return { id, key }
}

/** All keys of an application, revoked ones included, newest first. */
export async function listKeys({ store }: Actor, application: string): Promise<KeySummary[]> {
  await mustExist(store, application)
  const rows = await store.query<{
    id: string
    mode: Mode
    label: string
    hint: string
    created_at: number
    last_used_at: number | null
    revoked_at: number | null
  }>(
    `SELECT id, mode, label, hint, created_at, last_used_at, revoked_at FROM api_key
     WHERE application = $1 ORDER BY created_at DESC, id`,
    [application],
  )
  return rows.map(({ id, mode, label, hint, ...times }) => ({
    ...{ id, mode, label, hint },
    createdAt: times.created_at,
    lastUsedAt: times.last_used_at,
    revokedAt: times.revoked_at,
  }))
}

/** Revokes a key for good: immediately in this process, within a second in all others. */
export async function revokeKey(actor: Actor, application: string, id: string): Promise<void> {
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const now = Date.now()
      const row = await queryOne<{ hint: string; mode: Mode; label: string }>(
        tx,
        `UPDATE api_key SET revoked_at = $3 WHERE application = $1 AND id = $2 AND revoked_at IS NULL
         RETURNING hint, mode, label`,
        [application, id, now],
      )
      if (row) {
        const data = { key: { id, mode: row.mode, label: row.label } }
        await writeEvent(tx, { application, type: 'key.revoked', data }, now)
        return row
      }
      throw new OperatorError(`"${application}" has no valid key "${id}": list its keys to see their ids.`)
    },
    ({ hint }) => ({ application, action: 'key.revoked', detail: `${id} ${hint}` }),
  )
}
