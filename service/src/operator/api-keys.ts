import { randomBytes } from 'node:crypto'
import type { Mode } from '../application.js'
import { hashApiKey, hintOf, newApiKey } from '../applications/api-key.js'
import { one } from '../store/store.js'
import { mustExist } from './applications.js'
import { change, type Desk } from './actor.js'
import { OperatorError } from './operator-error.js'

/** What is known of an API key; the key itself is not. */
export interface KeySummary {
  readonly id: string
  readonly mode: Mode
  readonly label: string
  /** Its beginning and end, to recognise it by. */
  readonly hint: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** To the hour. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

const LABEL = /^[^\p{Cc}]{0,80}$/u

/** Makes an API key. `key` is told this once and kept nowhere (R85). */
export async function createKey(
  desk: Desk,
  application: string,
  about: { readonly mode: Mode; readonly label: string },
): Promise<{ readonly id: string; readonly key: string }> {
  if (!LABEL.test(about.label)) {
    throw new OperatorError('A label has at most 80 characters, no control characters.')
  }
  const key = newApiKey(about.mode)
  const id = `key_${randomBytes(5).toString('hex')}`
  await change(
    desk,
    async (tx) => {
      await mustExist(tx, application)
      await tx.query(
        `INSERT INTO api_key (application, id, hash, mode, label, hint, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [application, id, hashApiKey(key), about.mode, about.label, hintOf(key), Date.now()],
      )
    },
    () => ({ application, action: 'key.created', detail: `${id} ${hintOf(key)} ${about.label}`.trim() }),
  )
  return { id, key }
}

/** The keys of an application, newest first, revoked ones too. */
export async function listKeys(desk: Desk, application: string): Promise<KeySummary[]> {
  await mustExist(desk.store, application)
  const rows = await desk.store.query<{
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

/** Revokes a key for good: at once in this process, within a second in every other. */
export async function revokeKey(desk: Desk, application: string, id: string): Promise<void> {
  await change(
    desk,
    async (tx) => {
      await mustExist(tx, application)
      const row = await one<{ hint: string }>(
        tx,
        `UPDATE api_key SET revoked_at = $3 WHERE application = $1 AND id = $2 AND revoked_at IS NULL
         RETURNING hint`,
        [application, id, Date.now()],
      )
      if (row) return row
      throw new OperatorError(
        `"${application}" has no key "${id}" that could be revoked: list its keys to see their ids.`,
      )
    },
    ({ hint }) => ({ application, action: 'key.revoked', detail: `${id} ${hint}` }),
  )
}
