import { randomBytes } from 'node:crypto'
import { SCOPES, type Scope } from 'countersign/protocol'
import { hintOf, newApiKey, SIGN_IN_SCOPES } from '../accounts/applications/api-key.js'
import { writeEvent } from '../messages/events/write-events.js'
import type { Mode } from '../store/partition.js'
import { textHash } from '../store/secrets/hash.js'
import { HOUR_MS } from '../time.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { changeRows } from './change-rows.js'

/** An API key in a list, without the key itself. */
export interface KeySummary {
  /** Identifies the key in commands. */
  readonly id: string
  /** `test` keys have their own data and deliver nothing. */
  readonly mode: Mode
  /** Its purpose, in the operator's words. */
  readonly label: string
  /** Its beginning and end, to recognize it. */
  readonly hint: string
  /** The scopes that it has. */
  readonly scopes: readonly Scope[]
  /** When it was created, in milliseconds since 1970, like all times here. */
  readonly createdAt: number
  /** When it expires; `null` if it does not. */
  readonly expiresAt: number | null
  /** When it was last used, to the hour; `null` if never. */
  readonly lastUsedAt: number | null
  /** The address from which it was used when that was last written, at least once an hour; `null` if it is not known. */
  readonly lastAddress: string | null
  /** The network from which it was used for the first time most lately, apart from its first network. */
  readonly newNetwork: { readonly network: string; readonly at: number } | null
  /** When it was revoked; `null` while it is valid. */
  readonly revokedAt: number | null
}

const LABEL = /^[^\p{Cc}]{0,80}$/u

/** A new API key. */
export interface NewKey {
  /** `test` keys have their own data and deliver nothing. */
  readonly mode: Mode
  /** Its purpose. Defaults to nothing. */
  readonly label?: string | undefined
  /** The scopes that it gets. Defaults to what signing users in needs: `verify`, `enroll` and `read`. */
  readonly scopes?: readonly string[] | undefined
  /** How long it is valid, in milliseconds: an hour to ten years. Defaults to forever. */
  readonly lifetimeMs?: number | undefined
}

const MAX_LIFETIME_MS = 3_653 * 24 * HOUR_MS

/** Creates an API key. Its text is in the result and nowhere else. */
export async function createKey(
  actor: Actor,
  application: string,
  { mode, label = '', scopes = SIGN_IN_SCOPES, lifetimeMs }: NewKey,
): Promise<{ readonly id: string; readonly key: string }> {
  if (!LABEL.test(label)) {
    throw new OperatorError('A label has at most 80 characters and no control characters.')
  }
  const granted = SCOPES.filter((scope) => scopes.includes(scope))
  const isKnown = scopes.every((scope) => (SCOPES as readonly string[]).includes(scope))
  if (granted.length === 0 || !isKnown) {
    throw new OperatorError(`A key has one or more of the scopes ${SCOPES.join(', ')}.`)
  }
  if (lifetimeMs !== undefined && !(lifetimeMs >= HOUR_MS && lifetimeMs <= MAX_LIFETIME_MS)) {
    throw new OperatorError('A key expires after an hour to ten years (3653d), or never.')
  }
  const key = newApiKey(mode)
  const id = `key_${randomBytes(5).toString('hex')}`
  const now = Date.now()
  const expiresAt = lifetimeMs === undefined ? null : now + lifetimeMs
  const until = expiresAt === null ? '' : ` until ${new Date(expiresAt).toISOString()}`
  await changeRows(actor, {
    ...{ application, action: 'key.created' },
    detail: `${id} ${hintOf(key)} for ${granted.join(', ')}${until} ${label}`.trim(),
    sql: `INSERT INTO api_key (application, id, hash, mode, label, hint, scopes, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [application, id, textHash(key), mode, label, hintOf(key), granted, now, expiresAt],
  })
  return { id, key }
}

/** Lists the API keys of an application. */
export async function listKeys({ store }: Actor, application: string): Promise<KeySummary[]> {
  await mustExist(store, application)
  const rows = await store.query<
    Omit<KeySummary, 'newNetwork'> & { network: string | null; at: number | null }
  >(
    `SELECT id, mode, label, hint, scopes, created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt",
       last_address AS "lastAddress", revoked_at AS "revokedAt", new_network AS network, new_network_at AS at
     FROM api_key WHERE application = $1 ORDER BY created_at DESC, id`,
    [application],
  )
  return rows.map(({ network, at, ...key }) => ({
    ...key,
    newNetwork: network !== null && at !== null ? { network, at } : null,
  }))
}

/** Revokes an API key, which ends at once. */
export async function revokeKey(actor: Actor, application: string, id: string): Promise<void> {
  await changeWithAudit(actor, async (tx, record) => {
    await mustExist(tx, application)
    const now = Date.now()
    const [row] = await tx.query<{ hint: string; mode: Mode; label: string }>(
      `UPDATE api_key SET revoked_at = $3 WHERE application = $1 AND id = $2 AND revoked_at IS NULL
       RETURNING hint, mode, label`,
      [application, id, now],
    )
    if (!row) {
      throw new OperatorError(`"${application}" has no valid key "${id}": list its keys to see their ids.`)
    }
    const { hint, ...key } = row
    await writeEvent(tx, { application, type: 'key.revoked', data: { key: { id, ...key } } }, now)
    record({ application, action: 'key.revoked', detail: `${id} ${hint}` })
  })
}
