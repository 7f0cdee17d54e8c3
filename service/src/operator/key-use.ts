import type { Queries } from '../store/store.js'

/** Rows that depend on a key are counted up to this number: more would take as long as they are many. */
const MAX_COUNT = 10_000

/** What backup codes are called in a use. */
export const BACKUP_CODES = 'backup codes'

/** How much of the store depends on a key. */
export interface KeyUse {
  readonly keyId: string
  /** What depends on it, in words. */
  readonly what: string
  /** How many; large numbers are not counted to the end. */
  readonly count: number
  /** Whether `rotate-secrets` can move it to another key. Codes cannot be moved: they stay until they are used or expire. */
  readonly movable: boolean
}

/** A key's use in words, without a full stop. */
export function describeKeyUse({ keyId, what, count }: KeyUse): string {
  return `${count < MAX_COUNT ? count : `${MAX_COUNT} or more`} ${what} depend on key ${keyId}`
}

/** The uses of each key in a column that has an index of its keys, which is at this position of the text. */
const indexedUses = (table: string, column: string, position: number, what: string, movable: number) => {
  const key = `split_part(${column}, '.', ${position})`
  const next = (after: string) =>
    `SELECT ${key} FROM ${table} WHERE ${key} IS NOT NULL ${after} ORDER BY ${key} LIMIT 1`
  // From one key to the next, however many rows each has.
  return `SELECT * FROM (
      WITH RECURSIVE used (key_id) AS (
        (${next('')}) UNION ALL SELECT (${next(`AND ${key} > used.key_id`)}) FROM used WHERE used.key_id IS NOT NULL
      )
      SELECT key_id, '${what}' AS what, ${movable} AS movable, (SELECT count(*) FROM (
        SELECT FROM ${table} WHERE ${key} = used.key_id LIMIT ${MAX_COUNT}) AS counted) AS count
      FROM used WHERE key_id IS NOT NULL
    ) AS ${table}_${column}`
}

// Messages are sealed while they are queued.
const KEY_USES = `SELECT key_id, what, movable, sum(count)::integer AS count FROM (
    ${indexedUses('app_secret', 'sealed', 2, 'authenticator secrets', 1)}
    UNION ALL ${indexedUses('app_secret', 'pending', 2, 'authenticator secrets', 1)}
    UNION ALL ${indexedUses('backup_code', 'mac', 1, BACKUP_CODES, 0)}
    UNION ALL ${indexedUses('inbox', 'sealed', 2, 'inbox messages', 1)}
    UNION ALL SELECT split_part(sealed, '.', 2), 'queued messages', 1, 1 FROM outbox
      WHERE state = 'queued' AND sealed IS NOT NULL
    UNION ALL SELECT split_part(sealed, '.', 2), 'transcription jobs', 1, 1 FROM transcription_job
    UNION ALL SELECT split_part(sealed, '.', 2), 'webhook secrets', 1, 1 FROM application_webhook
    UNION ALL SELECT split_part(former, '.', 2), 'webhook secrets', 1, 1 FROM application_webhook WHERE former IS NOT NULL
    UNION ALL SELECT split_part(sealed, '.', 2), 'webhook secrets', 1, 1 FROM event_endpoint
    UNION ALL SELECT split_part(former, '.', 2), 'webhook secrets', 1, 1 FROM event_endpoint WHERE former IS NOT NULL
    UNION ALL SELECT split_part(code_mac, '.', 1), 'delivered codes', 0, 1
      FROM challenge WHERE ended_at IS NULL AND expires_at > $1
  ) AS used GROUP BY key_id, what, movable ORDER BY key_id, what`

/** What depends on which key at this time. */
export async function keyUses(queries: Queries, now: number): Promise<KeyUse[]> {
  const rows = await queries.query<{ key_id: string; what: string; count: number; movable: number }>(
    KEY_USES,
    [now],
  )
  return rows.map((row) => ({
    keyId: row.key_id,
    what: row.what,
    count: Math.min(row.count, MAX_COUNT),
    movable: row.movable === 1,
  }))
}
