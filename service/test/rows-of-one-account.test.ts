import { createServer } from 'node:http'
import { mfaClient } from 'countersign'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { readOptions } from '../src/run/options.js'
import { type CountersignService, runService } from '../src/run/service.js'
import { openStore } from '../src/store/open.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { Queries, Store } from '../src/store/store.js'
import { API_KEY, appCode, SECRET, wrong } from './kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from './software-key.js'

type PlanNode = { readonly [name: string]: unknown } & { readonly Plans?: readonly PlanNode[] }

/** The members of the answers of verbs. */
interface Answer {
  readonly outcome?: string
  readonly challenge?: string
  readonly secret?: string
  readonly codes?: readonly string[]
  readonly keys?: readonly { readonly id: string }[]
}

/** Workers look in these tables for what is due, of all accounts; and results are written by the id of what they belong to. */
const SEARCHED_BY_WORKERS = /^(outbox(_\d)?|event_(endpoint|delivery)|transcription_job|lease)$/

/** The rows that every statement of a request reads and writes, by which an engine can distribute the tables. */
describe('the rows of an account', () => {
  const statements = new Map<string, number>()
  let store: Store
  let service: CountersignService
  let mfa: ReturnType<typeof mfaClient>

  const recording = (queries: Queries): Queries => ({
    query(...statement) {
      const [text, { length } = []] = statement
      statements.set(text, length)
      return queries.query(...statement)
    },
  })

  beforeAll(async () => {
    const keys = deriveKeys(SECRET)
    store = await openStore({ dataDir: 'memory://', keyId: keys.id })
    const options = { secret: SECRET, apiKey: API_KEY, delivery: 'inbox', relyingParty: RELYING_PARTY }
    service = await runService(readOptions(options), keys, {
      ...store,
      ...recording(store),
      transaction: (work) => store.transaction((tx) => work(recording(tx))),
    })
    statements.clear()
    const port = await listenOnLoopback(createServer(service.api))
    mfa = mfaClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: API_KEY })
  })
  afterAll(async () => {
    await mfa.close()
    await service.close()
  })

  /** Calls every verb for an account, and returns the outcomes. */
  async function everyVerb(account: string, nr: number) {
    const phone = `+44770090000${nr}`
    const contact = { kind: 'email', email: `${account}@example.com` } as const
    const user = { account, contact, clientAddress: `203.0.${nr}.1` }
    const outcomes: string[] = []
    const ask = async (asked: Promise<object | undefined> | undefined): Promise<Answer> => {
      const answer: Answer = Object(await asked)
      outcomes.push(answer.outcome ?? 'known')
      return answer
    }
    const lastCode = async () => {
      const [message] = (await service.inbox?.messages({ to: contact.email })) ?? []
      return /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? ''
    }

    const { challenge = '' } = await ask(mfa.send({ method: 'email', ...user }))
    const code = await lastCode()
    await ask(mfa.verify({ method: 'email', ...user, kind: 'code', code: wrong(code), challenge }))
    await ask(mfa.verify({ method: 'email', ...user, kind: 'code', code }))
    await ask(mfa.send({ ...user, method: 'sms', contact: { kind: 'phone', phone } }))
    await ask(mfa.deliveryOf?.({ challenge }))

    const { secret = '' } = await ask(mfa.enrollApp(user))
    await ask(mfa.verify({ method: 'app', ...user, kind: 'confirm', code: appCode(secret) }))
    await ask(mfa.verify({ method: 'app', ...user, kind: 'code', code: wrong(appCode(secret)) }))

    const { codes: [backup = ''] = [] } = await ask(mfa.createBackupCodes?.(user))
    await ask(mfa.verify({ method: 'email', ...user, kind: 'backup', code: backup }))
    await ask(mfa.sendBackupCodes({ ...user, method: 'email' }))

    const keys = keysOf(mfa)
    const { device } = await registerSoftwareKey(mfa, user, 'passkey')
    const ceremony = { ...user, method: 'passkey', purpose: 'sign-in', transaction: 'login' } as const
    const response = device.get(await optionsIn(keys.authenticationOptions(ceremony)), KEY_PAGE)
    await ask(keys.authenticate({ ...ceremony, response }))
    const { keys: [key = { id: '' }] = [] } = await ask(keys.list(user))
    await ask(keys.rename({ ...user, key: key.id, name: 'Blue' }))
    await ask(keys.remove({ ...user, key: key.id }))

    await ask(mfa.factorsOf?.(user))
    await ask(mfa.removeFactor?.({ ...user, factor: 'app' }))
    await ask(mfa.removeFactor?.({ ...user, factor: 'backup' }))
    return outcomes
  }

  /** The plan of each statement, for any parameters. */
  async function plans() {
    const found: PlanNode[] = []
    await store.transaction(async (tx) => {
      await tx.query('SET LOCAL plan_cache_mode = force_generic_plan')
      // Without these, the conditions of a join are those of its scans.
      for (const how of ['hashjoin', 'mergejoin', 'material', 'memoize', 'seqscan', 'bitmapscan', 'sort']) {
        await tx.query(`SET LOCAL enable_${how} = off`)
      }
      for (const [statement, count] of statements) {
        if (/^(SAVEPOINT|RELEASE|ROLLBACK)/.test(statement)) continue
        await tx.query(`PREPARE explained AS ${statement}`)
        const nulls = count === 0 ? '' : `(${Array(count).fill('NULL').join(', ')})`
        const [row] = await tx.query(`EXPLAIN (FORMAT JSON) EXECUTE explained${nulls}`)
        await tx.query('DEALLOCATE explained')
        found.push(Object(row)['QUERY PLAN'][0].Plan)
      }
    })
    return found
  }

  /** How a plan finds rows: the tables, with the conditions on their columns. */
  function scansIn(node: PlanNode): { readonly table: string; readonly conditions: string }[] {
    const { 'Relation Name': table, 'Node Type': type, Plans: plans = [] } = node
    const conditions = `${node['Index Cond'] ?? ''} ${node.Filter ?? ''}`.trim()
    const own = table !== undefined && type !== 'ModifyTable' ? [{ table: String(table), conditions }] : []
    return [...own, ...plans.flatMap(scansIn)]
  }

  /** The columns that name the owner of the rows of each table. */
  async function ownersOf() {
    const rows = await store.query<{ table: string; columns: string[] }>(
      `SELECT table_name AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
       WHERE column_name IN ('application', 'account') GROUP BY table_name`,
      [],
    )
    return new Map(rows.map(({ table, columns }) => [table, columns]))
  }

  test('are found by application and account, whichever verb is called', async () => {
    const outcomes = await everyVerb('ann', 1)
    expect(outcomes.join(' ')).toBe(
      'sent invalid valid sent known prepared valid invalid created valid sent valid known renamed removed known removed removed',
    )
    const owners = await ownersOf()
    const found = (await plans()).flatMap(scansIn).filter(({ table }) => !SEARCHED_BY_WORKERS.test(table))
    expect(found.length).toBeGreaterThan(60)
    const others = found.filter(({ table, conditions }) => {
      const columns = owners.get(table) ?? ['application', 'account']
      return !columns.every((column) => new RegExp(`(?<![.\\w])${column} = `).test(conditions))
    })
    // A credential id belongs to one account of an application, which a registration and a sign-in find out.
    expect(new Set(others.map(({ table, conditions }) => `${table}: ${conditions}`))).toEqual(
      new Set(['account_key: (application = $1) (id = $2)']),
    )
  })

  test('stay as they are when another account uses every verb', async () => {
    await everyVerb('ben', 2)
    const tables = [...(await ownersOf())].flatMap(([table, columns]) =>
      columns.includes('account') ? [table] : [],
    )
    const rowsOfBen = async () => {
      const rows = tables.map((table) =>
        store.query(
          `SELECT to_jsonb(${table})::text AS row FROM ${table} WHERE account = 'account:ben' ORDER BY 1`,
          [],
        ),
      )
      return (await Promise.all(rows)).flat()
    }
    const before = await rowsOfBen()
    expect(before.length).toBeGreaterThan(5)
    await everyVerb('cal', 3)
    expect(await rowsOfBen()).toEqual(before)
  })

  test('have application and account in every unique key, apart from those of three tables', async () => {
    const keys = await store.query<{ name: string; table: string; columns: string[] }>(
      `SELECT i.indexrelid::regclass::text AS name, i.indrelid::regclass::text AS table,
         array(SELECT attname::text FROM pg_attribute WHERE attrelid = i.indexrelid) AS columns
       FROM pg_index AS i WHERE i.indisunique`,
      [],
    )
    const owners = await ownersOf()
    const without = keys.filter(({ table, columns }) => {
      const needed = owners.get(table) ?? []
      return needed.includes('account') && !needed.every((column) => columns.includes(column))
    })
    expect(new Set(without.map(({ name }) => name))).toEqual(
      new Set(['account_key_of_application', 'approval_request_pkey', 'event_delivery_pkey']),
    )
  })
})
