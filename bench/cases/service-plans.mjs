import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { createService } from '../../service/dist/index.js'
import { deleteExpired, deriveKeys, diagnoseStore, postgresStore } from '../../service/dist/parts.js'
import { figure } from '../kit/comparison.mjs'
import { MESSAGES_PER_ACCOUNT } from '../kit/crowd.mjs'
import { startCrowdedPostgres } from '../kit/crowded-postgres.mjs'
import { describePlan, EXPLAINED, plansIn, planWithDefaults, wholeScans } from '../kit/plans.mjs'
import { script } from '../kit/postgres.mjs'
import { SECRET } from '../kit/service.mjs'

export const title = 'The service: how PostgreSQL finds rows in large tables'
export const meaning = `Every statement runs among many accounts and messages, loaded by COPY, with the settings of the service's own connections and
again with those that PostgreSQL comes with. A statement that reads a large table as a whole ends the run. With \`--people\`,
the plans are kept in bench/plans.`

const FOLDER = new URL('../plans/', import.meta.url)
const CAN_BE_PREPARED = /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i
/**
 * A table with fewer rows may be read as a whole by the hourly deletion, whose statements are planned for the table as it is: to
 * delete a thousand rows, that can cost less than to look each of them up.
 */
const LARGE = 200_000

export async function run(bench) {
  const people = bench.people ?? (bench.isQuick ? 20_000 : 200_000)
  const postgres = await startCrowdedPostgres(people, { more: EXPLAINED, keepLog: true, folder: bench.data })
  bench.defer(postgres.stop)
  const store = postgresStore(postgres.url)
  bench.defer(store.close)
  const service = await createService({
    databaseUrl: postgres.url,
    secret: SECRET,
    delivery: 'inbox',
    databasePoolSize: 2,
    logger() {},
  })
  bench.defer(service.close)
  const namesOf = async (statement) => {
    const { rows } = await script(postgres.url, statement)
    return new Set(rows.map(({ name }) => name))
  }
  const among = {
    tables: await namesOf(`SELECT relname AS name FROM pg_class WHERE reltuples > ${LARGE}`),
    partial: await namesOf(
      'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL',
    ),
  }

  if (bench.people) {
    mkdirSync(FOLDER, { recursive: true })
    // The others are of the pages of the console.
    const own = readdirSync(FOLDER).filter((name) => !name.startsWith('console-'))
    for (const name of own) rmSync(new URL(name, FOLDER))
  }
  const known = new Set()
  const scanned = []
  for (const [name, operation] of Object.entries(operations(service, store))) {
    const before = postgres.log().length
    await operation()
    const seen = plansIn(postgres.log().slice(before)).filter(({ text }) => !known.has(text))
    for (const { text, plan } of seen) {
      known.add(text)
      scanned.push(...wholeScans(plan, among).map((table) => `${name} reads all of ${table}:\n${text}`))
    }
    const parts = seen.map(({ text, plan }) => `${text.trim()}\n\n${describePlan(plan)}\n`)
    if (bench.people && parts.length > 0) {
      writeFileSync(new URL(`${name}.txt`, FOLDER), parts.join(`\n${'-'.repeat(100)}\n\n`))
    }
  }
  const client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=mfa' })
  await client.connect()
  bench.defer(() => client.end())
  for (const text of [...known].filter((statement) => CAN_BE_PREPARED.test(statement))) {
    const plan = await planWithDefaults((statement) => client.query(statement), text)
    scanned.push(...wholeScans(plan, among).map((table) => `By default, all of ${table} is read:\n${text}`))
  }
  if (scanned.length > 0) throw new Error(scanned.join('\n\n'))
  const note = `among ${people.toLocaleString('en')} accounts and ${(people * MESSAGES_PER_ACCOUNT).toLocaleString('en')} messages`
  return [
    figure('service: statements, none of which reads a large table as a whole', known.size, '', { note }),
  ]
}

/** What the service does, by the name of the file that keeps its plans. */
function operations({ mfa, operator, importApp }, store) {
  const contact = { kind: 'email', email: 'someone@example.com' }
  const phone = { kind: 'phone', phone: '+447700900123' }
  const request = { contact, account: '7' }
  const desk = operator('bench')
  const user = { application: 'default', mode: 'live', user: '7', isAccount: true }
  let challenge
  return {
    send: async () => {
      challenge = (await mfa.send({ method: 'email', ...request })).challenge
    },
    'send-sms': () => mfa.send({ method: 'sms', contact: phone, account: '8', clientAddress: '192.0.2.1' }),
    'send-again': () => mfa.send({ method: 'email', ...request, challenge }),
    verify: () => mfa.verify({ method: 'email', ...request, kind: 'code', code: '000000', challenge }),
    'verify-newest': () => mfa.verify({ method: 'email', ...request, kind: 'code', code: '000000' }),
    'verify-app': () => mfa.verify({ method: 'app', contact, account: '10', kind: 'code', code: '000000' }),
    'enroll-app': () => mfa.enrollApp(request),
    'confirm-app': () => mfa.verify({ method: 'app', ...request, kind: 'confirm', code: '000000' }),
    'import-app': () => importApp({ contact, account: '12', secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }),
    'backup-codes': () => mfa.sendBackupCodes({ method: 'email', ...request }),
    'verify-backup': () =>
      mfa.verify({ method: 'email', ...request, kind: 'backup', code: 'AAAABBBBCCCCDDDD' }),
    factors: () => mfa.factorsOf(request),
    'delivery-state': () => mfa.deliveryOf({ challenge }),
    deliveries: () => desk.searchMessages({ application: 'default', mode: 'live', limit: 20 }),
    'deliveries-refused': () =>
      desk.searchMessages({ application: 'default', mode: 'live', state: 'refused', limit: 20 }),
    audit: () => desk.listAudit({ limit: 20 }),
    'audit-of-application': () => desk.listAudit({ application: 'default', limit: 20 }),
    'user-show': () => desk.showUser(user),
    'user-list': () => desk.listUsers({ application: 'default', mode: 'live', limit: 20 }),
    'user-export': () => desk.exportUser(user),
    'user-erase': () => desk.eraseUser(user),
    traffic: () => desk.showTraffic('default'),
    doctor: () => diagnoseStore(store, deriveKeys(SECRET), { production: true }),
    retention: () => deleteExpired(store),
    // The outbox looks for due messages every five seconds.
    outbox: () => new Promise((resolve) => setTimeout(resolve, 6_000)),
  }
}
