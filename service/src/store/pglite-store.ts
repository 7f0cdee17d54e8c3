import { escapeLiteral } from 'pg'
import { embeddedDatabase } from './embedded-database.js'
import type { PgliteClient } from './empty-database.js'
import { reportOutage } from './outages.js'
import type { Queries, Store, Transactions, Value } from './store.js'

/** A store embedded in this process, on disk under `dataDir`, or in memory for `memory://`. */
export async function pgliteStore(dataDir: string): Promise<Store> {
  const database = await embeddedDatabase(dataDir)
  const prepared = createPreparedStatements()
  const transactions: Transactions = {
    query: createQueries(database, prepared).query,
    transaction: (work) => database.transaction((tx) => work(createQueries(tx, prepared))),
  }
  return {
    name: 'pglite',
    schema: 'public',
    ...transactions,
    background: transactions,
    async script(tx, text) {
      await (tx as ScriptableQueries).exec(text)
    },
    // PGlite has no background processes that would do this.
    async upkeep() {
      await database.exec('VACUUM')
      await database.exec('CHECKPOINT')
    },
    close: () => database.close(),
  }
}

interface ScriptableQueries extends Queries {
  exec(text: string): Promise<unknown>
}

function createQueries(client: PgliteClient, prepared: PreparedStatements): ScriptableQueries {
  return {
    async query<Row extends object>(text: string, params?: readonly Value[]) {
      const run = async (statement: string) => {
        try {
          return (await client.query<Row>(statement)).rows
        } catch (error) {
          throw reportOutage(error)
        }
      }
      return params ? prepared(run, text, params) : run(text)
    },
    exec: (text) => client.exec(text),
  }
}

type Run<Row> = (text: string) => Promise<Row[]>

type PreparedStatements = ReturnType<typeof createPreparedStatements>

/** Prepares statements by PREPARE and EXECUTE, with literal values: PGlite cannot name them, and planning costs five times as much. */
function createPreparedStatements() {
  const names = new Map<string, string>()
  let count = 0
  /** Runs a statement by its name, and prepares it first if necessary. */
  return async function execute<Row>(run: Run<Row>, text: string, params: readonly Value[]): Promise<Row[]> {
    const known = names.get(text)
    if (known) return run(call(known, params))
    // Two concurrent calls each prepare one: waiting for the other could deadlock inside a transaction.
    const name = `s${++count}`
    await run(`PREPARE ${name} AS ${text}`)
    names.set(text, name)
    return run(call(name, params))
  }
}

function call(name: string, params: readonly Value[]): string {
  return params.length === 0 ? `EXECUTE ${name}` : `EXECUTE ${name}(${params.map(literal).join(', ')})`
}

function literal(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return writeText(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return number(value)
  // An empty array has no element type.
  if (value.length === 0) return "'{}'"
  const items = value.map((item) => (typeof item === 'string' ? writeText(item) : number(item)))
  return `ARRAY[${items.join(', ')}]::${typeof value[0] === 'string' ? 'text' : 'bigint'}[]`
}

function writeText(value: string): string {
  if (value.includes('\0')) throw new RangeError('A text for the store must not contain a NUL character.')
  return escapeLiteral(value)
}

function number(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('A number for the store must be finite.')
  return `${value}`
}
