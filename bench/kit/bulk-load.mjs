import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { binary, SEARCH_PATH, script } from './postgres.mjs'

/**
 * Loads an empty table by COPY, from chunks of lines in its text format. Its keys and indexes are built afterwards, which takes
 * a fraction of the time. A partition, given with its number as `slot` of `partitionOf`, is detached meanwhile.
 */
export async function bulkLoad(postgres, { table, columns, partitionOf, slot }, chunks) {
  const run = (...statements) => script(postgres.url, statements.join(';\n'))
  if (partitionOf) await run(`ALTER TABLE ${partitionOf} DETACH PARTITION ${table}`)
  const { rows: keys } = await run(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = '${table}'::regclass AND contype IN ('p', 'u')`,
  )
  const { rows: indexes } = await run(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = '${table}'::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  )
  await run(
    ...keys.map(({ name }) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`),
    ...indexes.map(({ name }) => `DROP INDEX ${name}`),
    `TRUNCATE ${table}`,
  )
  await copy(postgres, table, columns, chunks)
  await run(
    "SET maintenance_work_mem = '1GB'",
    ...keys.map(({ name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`),
    ...indexes.map(({ definition }) => definition),
    ...(partitionOf ? [`ALTER TABLE ${partitionOf} ATTACH PARTITION ${table} FOR VALUES IN (${slot})`] : []),
    `ANALYZE ${table}`,
  )
}

/** In the transaction that empties the table, so that its rows need no write-ahead log and no vacuum. */
async function copy(postgres, table, columns, chunks) {
  const commands = [`TRUNCATE ${table}`, `COPY ${table} (${columns}) FROM STDIN WITH (FREEZE)`]
  const psql = spawn(
    binary('psql'),
    [
      '-X',
      '-q',
      '-1',
      '-v',
      'ON_ERROR_STOP=1',
      '-d',
      postgres.url,
      ...commands.flatMap((text) => ['-c', text]),
    ],
    {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { ...process.env, PGOPTIONS: `-c search_path=${SEARCH_PATH}` },
    },
  )
  const gone = once(psql, 'exit')
  psql.stdin.on('error', () => {})
  for (const chunk of chunks) {
    if (!psql.stdin.write(chunk)) await Promise.race([once(psql.stdin, 'drain'), gone])
  }
  psql.stdin.end()
  const [code] = await gone
  if (code !== 0) throw new Error(`The rows of ${table} could not be loaded.`)
}
