import { rmSync, writeFileSync } from 'node:fs'
import { BUSY, loadBusyService, nameOf } from '../kit/busy-service.mjs'
import { figure } from '../kit/comparison.mjs'
import { signUp } from '../kit/console-client.mjs'
import { MESSAGES_PER_ACCOUNT } from '../kit/crowd.mjs'
import { startCrowdedPostgres } from '../kit/crowded-postgres.mjs'
import { describePlan, EXPLAINED, plansIn, wholeScans } from '../kit/plans.mjs'
import { script } from '../kit/postgres.mjs'
import { startService } from '../kit/service.mjs'
import { median } from '../kit/statistics.mjs'

export const title = 'The console: pages among many applications and messages'
export const meaning = `Processor time of the service and of PostgreSQL for each page of the console, signed in as an administrator. A page
whose statements read a table with more than 20,000 rows as a whole ends the run. With \`--people\`, the
plans are kept in bench/plans.`

const MOST_MS = 200
const LARGE = 20_000

export async function run(bench) {
  const people = bench.people ?? (bench.isQuick ? 2_000 : 100_000)
  const applications = bench.isQuick ? 1_000 : 10_000
  const more = EXPLAINED.filter((setting) => !setting.startsWith('auto_explain.log_min_duration'))
  const postgres = await startCrowdedPostgres(people, { more, keepLog: true, folder: bench.data })
  bench.defer(postgres.stop)
  const messages = people * MESSAGES_PER_ACCOUNT
  await loadBusyService(postgres.url, applications, messages)
  const measured = await onConsole(bench, postgres, (client, meter) => measure(bench, client, meter))
  await script(postgres.url, "ALTER DATABASE postgres SET auto_explain.log_min_duration = '0'")
  const plans = await onConsole(bench, postgres, (client) => explain(client, postgres))
  await script(postgres.url, 'ALTER DATABASE postgres RESET auto_explain.log_min_duration')
  if (bench.people) keep(plans)
  const scanned = await wholeScansIn(plans, postgres.url)
  if (scanned.length > 0) throw new Error(scanned.join('\n\n'))
  const [slowest] = measured.toSorted((a, b) => b.ms - a.ms)
  const among = `${applications.toLocaleString('en')} applications and ${(2 * messages).toLocaleString('en')} messages`
  return [
    figure('console: the page that takes most processor time', Math.round(slowest.ms), 'ms', {
      most: MOST_MS,
      note: `${slowest.name}, of ${measured.length} pages, among ${among}`,
    }),
    ...measured.map(({ name, ms }) => figure(`console: ${name}`, Math.round(ms), 'ms', { most: MOST_MS })),
  ]
}

async function onConsole(bench, postgres, work) {
  const env = { SERVICE_DELIVERY: 'inbox', SERVICE_CONSOLE: 'true', SERVICE_HOME_COUNTRY: 'GB' }
  const app = await startService({ node: bench.node, postgres, env })
  try {
    return await work(await signUp(app.url, postgres.url), app.meter)
  } finally {
    await app.stop()
  }
}

/** The pages, by the name of the file that keeps their plans. */
function pages({ get, post }) {
  const of = (application, page = '') => `/console/applications/${application}${page}`
  const some = nameOf(77)
  const day = new Date().toISOString().slice(0, 10)
  const paths = {
    overview: '/console',
    applications: '/console/applications',
    'applications-searched': '/console/applications?search=application+99',
    'applications-next': `/console/applications?after=${some}`,
    settings: of(some),
    keys: of(some, '/keys'),
    messages: of(BUSY, '/messages'),
    'messages-of-one': of(some, '/messages'),
    'messages-failed': of(some, '/messages?state=failed'),
    'messages-of-carrier': of(BUSY, '/messages?carrier=nobody'),
    'messages-of-day': of(BUSY, `/messages?from=${day}&to=${day}&channel=email`),
    'numbers-hour': of(BUSY, '/numbers?period=hour'),
    'numbers-day': of(BUSY, '/numbers?period=day'),
    'numbers-month': of(BUSY, '/numbers?period=month'),
    traffic: of(BUSY, '/traffic'),
    webhook: of(some, '/webhook'),
    audit: '/console/audit',
    'audit-of-application': `/console/audit?application=${some}`,
    'audit-of-operator': '/console/audit?actor=operator7@example.com',
    'audit-of-action': '/console/audit?action=webhook',
    'audit-of-day': `/console/audit?from=${day}&to=${day}`,
    health: '/console/health',
    'health-month': '/console/health?period=month',
    operators: '/console/operators',
  }
  const searches = {
    'search-contact': 'p7@example.com',
    'search-account': '7',
    'search-reference': '0123456789ab',
    'search-message': 'a'.repeat(22),
  }
  return {
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, () => get(path)])),
    ...Object.fromEntries(
      Object.entries(searches).map(([name, find]) => [name, () => search({ get, post }, find)]),
    ),
  }
}

/** The answer to a search has an address of its own, which leads on to the only user that was found. */
async function search({ get, post }, find) {
  let answer = await post('/console/search', { find })
  for (let hops = 0; answer.status === 303 && hops < 3; hops++) answer = await get(answer.location)
  return answer
}

async function opened(name, open) {
  const { status, text } = await open()
  // That nothing was found is an answer, too.
  if (status !== 200 && !(name.startsWith('search-') && status === 422)) {
    throw new Error(`The page ${name} answered ${status}:\n${text.slice(0, 500)}`)
  }
}

/** The processor time of each page in milliseconds, from enough repetitions for the clock's steps of 10 ms. */
async function measure(bench, client, meter) {
  const measured = []
  for (const [name, open] of Object.entries(pages(client))) {
    for (let i = 0; i < 2; i++) await opened(name, open)
    const times = []
    for (let round = 0; round < (bench.isQuick ? 1 : 3); round++) {
      const before = await meter()
      for (let i = 0; i < 5; i++) await opened(name, open)
      const after = await meter()
      times.push((after.processorUs + after.postgresUs - before.processorUs - before.postgresUs) / 5_000)
    }
    measured.push({ name, ms: median(times) })
  }
  return measured
}

/** The statements of each page with their plans, each statement once. */
async function explain(client, postgres) {
  const known = new Set()
  const plans = []
  for (const [name, open] of Object.entries(pages(client))) {
    const before = postgres.log().length
    await opened(name, open)
    const seen = plansIn(postgres.log().slice(before)).filter(({ text }) => !known.has(text))
    for (const { text } of seen) known.add(text)
    plans.push({ name, seen })
  }
  return plans
}

async function wholeScansIn(plans, url) {
  const namesOf = async (statement) => new Set((await script(url, statement)).rows.map(({ name }) => name))
  const among = {
    tables: await namesOf(`SELECT relname AS name FROM pg_class WHERE reltuples > ${LARGE}`),
    partial: await namesOf(
      'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL',
    ),
  }
  return plans.flatMap(({ name, seen }) =>
    seen.flatMap(({ text, plan }) =>
      wholeScans(plan, among).map((table) => `${name} reads all of ${table}:\n${text}`),
    ),
  )
}

function keep(plans) {
  for (const { name, seen } of plans) {
    const file = new URL(`../plans/console-${name}.txt`, import.meta.url)
    rmSync(file, { force: true })
    const parts = seen.map(({ text, plan }) => `${text.trim()}\n\n${describePlan(plan)}\n`)
    if (parts.length > 0) writeFileSync(file, parts.join(`\n${'-'.repeat(100)}\n\n`))
  }
}
