import * as z from 'zod'
import { type QueryPool, withTable } from './postgres-table.js'
import type { ItemStore } from './store.js'

/** The same statement as in docs/trusted-devices.md. */
const createTable = (name: string) =>
  `CREATE TABLE "${name}" (owner varchar(120) NOT NULL, id varchar(120) NOT NULL, value text NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (owner, id))`

// The package `pg` returns a bigint as text.
const rows = z.array(z.object({ id: z.string(), value: z.string(), expires_at: z.coerce.number() }))

/** How often `add` and `put` delete expired items. */
const SWEEP_EVERY_MS = 60 * 60_000

/** A store in a PostgreSQL table, shared by all processes. */
export function postgresStore(pool: QueryPool, tableName: string): ItemStore {
  const table = withTable(pool, tableName, createTable(tableName))
  const run = (text: string, ...values: unknown[]) => table.query({ text, values })
  let sweptAt = Number.NEGATIVE_INFINITY

  const sweep = async () => {
    const now = Date.now()
    if (Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return
    sweptAt = now
    await run(`DELETE FROM "${tableName}" WHERE expires_at <= $1`, now)
  }

  return {
    async read(owner) {
      const found = await run(`SELECT id, value, expires_at FROM "${tableName}" WHERE owner = $1`, owner)
      return rows.parse(found.rows).map(({ id, value, expires_at: expiresAt }) => ({ id, value, expiresAt }))
    },

    async add(owner, { id, value, expiresAt }) {
      await sweep()
      const added = await run(
        `INSERT INTO "${tableName}" AS kept (owner, id, value, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (owner, id) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at
         WHERE kept.expires_at <= $5 RETURNING id`,
        owner,
        id,
        value,
        expiresAt,
        Date.now(),
      )
      return added.rows.length > 0
    },

    async put(owner, { id, value, expiresAt }) {
      await sweep()
      await run(
        `INSERT INTO "${tableName}" (owner, id, value, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (owner, id) DO UPDATE SET value = EXCLUDED.value, expires_at = EXCLUDED.expires_at`,
        owner,
        id,
        value,
        expiresAt,
      )
    },

    async swap(owner, id, before, value) {
      const changed = await run(
        `UPDATE "${tableName}" SET value = $4 WHERE owner = $1 AND id = $2 AND value = $3 RETURNING id`,
        owner,
        id,
        before,
        value,
      )
      return changed.rows.length > 0
    },

    async remove(owner, id) {
      const removed = await run(
        `DELETE FROM "${tableName}" WHERE owner = $1 AND id = $2 RETURNING id`,
        owner,
        id,
      )
      return removed.rows.length > 0
    },
  }
}
