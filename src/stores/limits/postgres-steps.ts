import * as z from 'zod'
import { createTableFirst, type QueryPool } from '../postgres.js'
import { hourly } from '../store.js'
import {
  applyUpdate,
  createCounters,
  endOf,
  parseKept,
  type StepStore,
  type Update,
  undoing,
  writeKept,
} from './step.js'

/** The same statement as in docs/options.md. */
const createTable = (name: string) =>
  `CREATE TABLE "${name}" (key varchar(255) PRIMARY KEY, counters jsonb NOT NULL, permitted boolean NOT NULL, expires_at bigint NOT NULL)`

const rows = z.array(
  z.object({
    key: z.string(),
    counters: z.unknown().transform(parseKept),
    permitted: z.boolean().nullable(),
  }),
)

/** Counters in a PostgreSQL table: one row for each account and one for each transaction. */
export function postgresSteps(
  pool: QueryPool,
  tableName: string,
  keyOf: (account: string, transaction?: string) => string,
): StepStore {
  const table = createTableFirst(pool, tableName, createTable(tableName))
  const sweep = hourly((now) => {
    // A row that was not deleted holds nothing but ended counters, so nothing waits for this or its failure. It waits for no step either,
    // which could wait for a row that was deleted before.
    const ended = `SELECT key FROM "${tableName}" WHERE expires_at <= $1 FOR UPDATE SKIP LOCKED`
    const text = `DELETE FROM "${tableName}" WHERE key IN (${ended})`
    void table.query({ text, values: [now] }).catch(() => {})
  }, Date.now())

  const step = async (account: string, updates: readonly Update[]) => {
    const now = Date.now()
    const found = await table.query({
      text: stepStatement(tableName, updates.length),
      values: [
        now,
        ...updates.flatMap((update) => listValues(keyOf(account, update.transaction), update, now)),
      ],
    })
    const kept = new Map(rows.parse(found.rows).map(({ key, ...row }) => [key, row]))
    return { now, kept: updates.map(({ transaction }) => kept.get(keyOf(account, transaction))) }
  }

  return {
    async run(account, updates) {
      sweep()
      const { now, kept } = await step(account, updates)
      const isPermitted = kept.every((row) => row?.permitted === true)
      // Updates before the one that was refused have been made. A crash in between leaves an attempt counted, never one uncounted.
      const made = isPermitted ? 0 : kept.findIndex((row) => row?.permitted !== true)
      const undone = made === 0 ? [] : (await step(account, updates.slice(0, made).map(undoing))).kept
      const rows = [...undone, ...kept.slice(undone.length)]
      return { isPermitted, counters: rows.map((row) => createCounters(row?.counters ?? new Map(), now)) }
    },

    async read(account, transactions) {
      const keys = [undefined, ...transactions].map((transaction) => keyOf(account, transaction))
      const now = Date.now()
      const text = `SELECT key, counters, permitted FROM "${tableName}" WHERE key = ANY($1)`
      const found = rows.parse((await table.query({ text, values: [keys] })).rows)
      return keys.map((key) =>
        createCounters(found.find((row) => row.key === key)?.counters ?? new Map(), now),
      )
    },
  }
}

/** The parameters of one update: its key, its row if there is none yet, its requirements and its changes. */
function listValues(key: string, update: Update, now: number): unknown[] {
  const { requires = [], changes = [] } = update
  const first = applyUpdate(new Map(), update, now)
  return [
    key,
    writeKept(first ?? new Map()),
    first !== undefined,
    endOf(first ?? new Map()),
    JSON.stringify(requires),
    JSON.stringify(changes),
  ]
}

/*
 * A step is one statement. Each update is an INSERT … ON CONFLICT DO UPDATE, which waits for a concurrent step of the same row and
 * then computes from the row as that step left it. A SELECT or UPDATE in its place would decide by the row as it was when the
 * statement began. Each update reads from the one before it, so rows are locked in the order of the updates, and a refused one
 * keeps those after it from being made. Rows of those are read as they were; they only explain a refusal.
 */
function stepStatement(tableName: string, updates: number): string {
  const parts = Array.from({ length: updates }, (_, index) => updateStatement(tableName, index))
  const made = parts.map((_, index) => `SELECT key, counters, permitted FROM made${index}`)
  const others = parts.slice(1).map((_, index) => {
    const at = index + 1
    return `SELECT key, counters, NULL FROM "${tableName}" WHERE key = $${parameter(at)} AND NOT EXISTS (SELECT FROM made${at})`
  })
  return `WITH ${parts.join(',\n')}\n${[...made, ...others].join('\nUNION ALL ')}`
}

const PARAMETERS = 6

function parameter(update: number): number {
  return 2 + update * PARAMETERS
}

/** `applyUpdate` in SQL, with the time as the parameter 1. */
function updateStatement(tableName: string, at: number): string {
  const [key, first, permitted, end, requires, changes] = Array.from(
    { length: PARAMETERS },
    (_, nth) => `$${parameter(at) + nth}`,
  )
  const isIn = (name: string, counter: string) =>
    `(${name} = ${counter} OR right(${counter}, 2) = ' *' AND starts_with(${name}, left(${counter}, -1)))`
  const count = (counter: string) =>
    `(SELECT coalesce(sum(count), 0) FROM live WHERE ${isIn('live.name', counter)})`
  return `made${at} AS (
  INSERT INTO "${tableName}" AS kept (key, counters, permitted, expires_at)
  SELECT ${key}, ${first}::jsonb, ${permitted}::boolean, ${end}::bigint ${at === 0 ? '' : `FROM made${at - 1} WHERE permitted`}
  ON CONFLICT (key) DO UPDATE SET (counters, permitted, expires_at) = (
    WITH live AS MATERIALIZED (
      SELECT name, (counter->>0)::bigint AS count, (counter->>1)::bigint AS ends_at
      FROM jsonb_each(kept.counters) AS one(name, counter) WHERE (counter->>1)::bigint > $1::bigint
    ), verdict AS MATERIALIZED (
      SELECT NOT EXISTS (
        SELECT FROM jsonb_to_recordset(${requires}::jsonb) AS needed(counter text, "from" bigint, below bigint),
          LATERAL (SELECT ${count('needed.counter')} AS count) AS found
        WHERE found.count < needed."from" OR found.count >= needed.below
      ) AS permitted
    ), changed AS MATERIALIZED (
      SELECT change.counter AS name,
        coalesce(change.set, coalesce(live.count, 0) + coalesce(change.add, 0)) - ${count('change.minus')} AS count,
        CASE WHEN live.name IS NOT NULL AND change.set IS NULL AND change.restarts IS NULL THEN live.ends_at
          ELSE $1::bigint + (change."livesMs"->>least(${count('change.nth')}::int, jsonb_array_length(change."livesMs") - 1))::bigint
        END AS ends_at
      FROM jsonb_to_recordset(${changes}::jsonb) AS change(counter text, set bigint, add bigint, minus text,
        "livesMs" jsonb, nth text, restarts boolean, "when" text, "atLeast" bigint)
        LEFT JOIN live ON live.name = change.counter
      WHERE (SELECT permitted FROM verdict)
        AND (change."when" IS NULL OR ${count('change."when"')} >= coalesce(change."atLeast", 1))
    ), next AS (
      SELECT name, count, ends_at FROM live
      WHERE NOT EXISTS (SELECT FROM changed WHERE ${isIn('live.name', 'changed.name')})
      UNION ALL SELECT name, count, ends_at FROM changed WHERE count > 0
    )
    SELECT coalesce(jsonb_object_agg(name, jsonb_build_array(count, ends_at)), '{}'), (SELECT permitted FROM verdict),
      coalesce(max(ends_at), 0)
    FROM next
  )
  RETURNING key, counters, permitted)`
}
