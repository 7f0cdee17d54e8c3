import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createService } from '../../service/dist/index.js'
import { deleteExpired } from '../../service/dist/maintenance/retention.js'
import { postgresStore } from '../../service/dist/store/postgres-store.js'
import { figure } from '../kit/comparison.mjs'
import { describePlan, EXPLAINED, plansIn, sequentialScans } from '../kit/plans.mjs'
import { script, startPostgres } from '../kit/postgres.mjs'
import { SECRET } from '../kit/service.mjs'

export const title = 'The service: how PostgreSQL finds rows in large tables'
export const meaning = `The plan of every statement among many accounts and messages, as the service's own connections run them, is kept in
bench/plans. A statement that reads a large table as a whole ends the run.`

const FOLDER = new URL('../plans/', import.meta.url)
const DAY_MS = 86_400_000
/**
 * A table with fewer rows may be read as a whole by the hourly deletion, whose statements are planned for the table as it is: to
 * delete a thousand rows, that can cost less than to look each of them up.
 */
const LARGE = 200_000

/** Accounts with everything that belongs to them, and the messages of a week, in the partitions of their days. */
const crowd = (people, messages, now) => `
  SET synchronous_commit = off;
  INSERT INTO account (application, account, proven_email, failures)
    SELECT 'default', 'account:' || n, 'p' || n || '@example.com', CASE WHEN n % 20 > 0 THEN '[]'
      ELSE jsonb_build_array(jsonb_build_object('at', ${now} - n % 86400000, 'factor', 'APP')) END
    FROM generate_series(1, ${people}) n;
  INSERT INTO app_secret (application, account, sealed)
    SELECT 'default', 'account:' || n, repeat('x', 100) FROM generate_series(1, ${people}, 2) n;
  INSERT INTO factor (application, account, factor, failures)
    SELECT 'default', 'account:' || n, 'APP', 1 FROM generate_series(1, ${people}, 4) n;
  INSERT INTO backup_set (application, account, contact, salt, made_at)
    SELECT 'default', 'account:' || n, 'p' || n || '@example.com', 's', 0 FROM generate_series(1, ${people}, 10) n;
  INSERT INTO backup_code (application, account, salt, mac)
    SELECT 'default', 'account:' || n, 's', 'k.' || c FROM generate_series(1, ${people}, 10) n, generate_series(1, 10) c;
  INSERT INTO challenge (application, id, account, contact, type, method, purpose, digits, max_attempts, resend_at,
      created_at, expires_at, code_mac)
    SELECT 'default', 'c' || n, 'account:' || n, '+' || n, 'PHONE', 'sms', 'sign-in', 6, 5, 0, ${now}, ${now} + n, 'x'
    FROM generate_series(1, ${people}, 4) n;
  INSERT INTO budget (application, scope, key, times, last_hour)
    SELECT 'default', scope, n::text, ARRAY[${now} - n % 86400000], (${now} - n % 86400000) / 3600000
    FROM generate_series(1, ${people}, 2) n, unnest(ARRAY['account', 'destination']) scope;
  INSERT INTO idempotent_request (application, key, request, claim, claimed_until, expires_at)
    SELECT 'default', n::text, 'r', 'c', 0, ${now} + n FROM generate_series(1, ${people}, 10) n;
  INSERT INTO audit (application, at, who, action, detail)
    SELECT 'default', n, 'operator', 'user.unlocked', 'x' FROM generate_series(1, ${people}, 20) n;
  INSERT INTO inbox (application, recipient, sealed, arrived_at)
    SELECT 'other', n::text, 'x', ${now} FROM generate_series(1, ${people}, 20) n;
  INSERT INTO outbox (application, account, id, slot, channel, state, masked, challenge, due_at, expires_at, created_at,
      updated_at, settled_at)
    SELECT 'default', 'account:' || n % ${people}, 'm' || n, (${now} / ${DAY_MS} - n % 7) % 12, 'email', 'sent', 'x', 'c' || n,
      ${now}, ${now}, ${now} - n % 7 * ${DAY_MS}, ${now}, ${now} - n % 7 * ${DAY_MS}
    FROM generate_series(1, ${messages}) n;
  ANALYZE;`

export async function run(bench) {
  const people = bench.people ?? (bench.isQuick ? 20_000 : 200_000)
  const messages = people * 5
  const postgres = await startPostgres({ more: EXPLAINED, keepLog: true })
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
  await script(postgres.url, crowd(people, messages, Date.now()))

  const { rows } = await script(postgres.url, `SELECT relname FROM pg_class WHERE reltuples > ${LARGE}`)
  const large = new Set(rows.map(({ relname }) => relname))

  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const known = new Set()
  const scanned = []
  for (const [name, operation] of Object.entries(operations(service, store))) {
    const before = postgres.log().length
    await operation()
    const seen = plansIn(postgres.log().slice(before)).filter(({ text }) => !known.has(text))
    for (const { text, plan } of seen) {
      known.add(text)
      scanned.push(...sequentialScans(plan, large).map((table) => `${name} reads all of ${table}:\n${text}`))
    }
    const parts = seen.map(({ text, plan }) => `${text.trim()}\n\n${describePlan(plan)}\n`)
    if (parts.length > 0)
      writeFileSync(new URL(`${name}.txt`, FOLDER), parts.join(`\n${'-'.repeat(100)}\n\n`))
  }
  if (scanned.length > 0) throw new Error(scanned.join('\n\n'))
  const note = `among ${people.toLocaleString('en')} accounts and ${messages.toLocaleString('en')} messages`
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
    deliveries: () => desk.listDeliveries({ application: 'default', mode: 'live', limit: 20 }),
    'deliveries-refused': () =>
      desk.listDeliveries({ application: 'default', mode: 'live', state: 'refused', limit: 20 }),
    audit: () => desk.listAudit({ limit: 20 }),
    'audit-of-application': () => desk.listAudit({ application: 'default', limit: 20 }),
    'user-show': () => desk.showUser(user),
    'user-list': () => desk.listUsers({ application: 'default', mode: 'live', limit: 20 }),
    'user-export': () => desk.exportUser(user),
    'user-erase': () => desk.eraseUser(user),
    traffic: () => desk.showTraffic('default'),
    retention: () => deleteExpired(store),
    // The outbox looks for due messages every five seconds.
    outbox: () => new Promise((resolve) => setTimeout(resolve, 6_000)),
  }
}
