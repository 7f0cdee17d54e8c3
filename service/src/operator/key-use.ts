import type { Queries } from '../store/store.js'

/** How much of the store depends on a key. */
export interface KeyUse {
  readonly keyId: string
  /** What depends on it, in words. */
  readonly what: string
  readonly count: number
  /** Whether `rotate-secrets` can move it to another key. Codes cannot be moved: they stay until they are used or expire. */
  readonly movable: boolean
}

/** What depends on which key at this time. */
export async function keyUses(queries: Queries, now: number): Promise<KeyUse[]> {
  const rows = await queries.query<{ key_id: string; what: string; count: number; movable: number }>(
    `SELECT key_id, what, movable, count(*)::integer AS count FROM (
       SELECT split_part(sealed, '.', 2) AS key_id, 'authenticator secrets' AS what, 1 AS movable
         FROM app_secret WHERE sealed IS NOT NULL
       UNION ALL SELECT split_part(pending, '.', 2), 'authenticator secrets', 1
         FROM app_secret WHERE pending IS NOT NULL
       UNION ALL SELECT split_part(sealed, '.', 2), 'queued messages', 1 FROM outbox WHERE sealed IS NOT NULL
       UNION ALL SELECT split_part(sealed, '.', 2), 'inbox messages', 1 FROM inbox
       UNION ALL SELECT split_part(code_mac, '.', 1), 'delivered codes', 0
         FROM challenge WHERE ended_at IS NULL AND expires_at > $1
       UNION ALL SELECT split_part(mac, '.', 1), 'backup codes', 0 FROM backup_code
     ) AS used GROUP BY key_id, what, movable ORDER BY key_id, what`,
    [now],
  )
  return rows.map((row) => ({
    keyId: row.key_id,
    what: row.what,
    count: row.count,
    movable: row.movable === 1,
  }))
}
