import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stopClock } from '../../../test/kit/clock.js'
import { SLOT_MS, SLOTS } from '../../src/store/outbox-slots.js'
import { eventually } from '../kit.js'
import { postgresMissing } from '../postgres.js'
import { newFolder, type OwnPostgres, ownPostgres } from '../postgres-cluster.js'
import { openConsole, type TestConsole } from './kit.js'

const MESSAGES = 100_000
/** The number of rows that one page may look at: ten thousand messages for a filter, and some more. */
const MOST_EXAMINED = 12_000

interface Plan {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}

/** How many messages a plan looked at. */
function examined(plan: Plan): number {
  const { 'Relation Name': table = '', 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] } = plan
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const own = table.startsWith('outbox') ? (rows + removed) * loops : 0
  return Plans.map(examined).reduce((sum, rows) => sum + rows, own)
}

describe.skipIf(postgresMissing)(`the console with ${MESSAGES} messages of a week`, () => {
  let logs: string
  let postgres: OwnPostgres
  let console: TestConsole
  beforeAll(async () => {
    logs = newFolder()
    postgres = await ownPostgres({
      logging_collector: 'on',
      log_directory: logs,
      log_destination: 'jsonlog',
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_format': 'json',
    })
    console = await openConsole({}, { databaseUrl: postgres.url })
    const { mfa } = console.service
    await mfa.send({ method: 'email', contact: { kind: 'email', email: 'ann@example.com' }, account: 'ann' })
    const now = Date.now()
    // One in fifty failed, one in a thousand waits; each of 5,000 users has twenty.
    await postgres.sql(
      `INSERT INTO outbox (application, id, channel, state, expires_at, created_at, settled_at, challenge, masked,
         carrier, fault, updated_at, account, slot, country)
       SELECT 'default', 'many' || nr, CASE nr % 3 WHEN 0 THEN 'sms' ELSE 'email' END, state, at + 600000, at,
         CASE WHEN state <> 'queued' THEN at END, 'challenge' || nr, 'u***@example.com',
         CASE WHEN nr % 30000 = 0 THEN 'rare' ELSE 'smtp' END, CASE WHEN state = 'failed' THEN 'contact' END, at,
         'account:user' || nr % 5000, at / ${SLOT_MS} % ${SLOTS}, CASE nr % 3 WHEN 0 THEN 'GB' END
       FROM (SELECT nr, ${now}::bigint - nr * 6000::bigint AS at,
           CASE WHEN nr % 1000 = 0 THEN 'expired' WHEN nr % 50 = 0 THEN 'failed' WHEN nr % 2 = 0 THEN 'delivered' ELSE 'sent' END AS state
         FROM generate_series(1, ${MESSAGES}) AS nr) AS message;
       ANALYZE;
       -- As before the first look for messages whose process died.
       DELETE FROM lease`,
    )
  })
  afterAll(async () => {
    await console?.service.close()
    await postgres?.remove()
    rmSync(logs, { recursive: true, force: true })
  })

  let marks = 0
  const logLines = () =>
    readdirSync(logs)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'))

  /** How many messages the database looked at since the last call. */
  async function examinedSince(): Promise<number> {
    const mark = `mark ${++marks}`
    await postgres.sql(`SELECT '${mark}'`)
    let lines: string[] = []
    await eventually(() => {
      lines = logLines()
      expect(lines.some((line) => line.includes(mark))).toBe(true)
    })
    const from = lines.findIndex((line) => line.includes(`mark ${marks - 1}`))
    const plans = lines.slice(from + 1).flatMap((line) => {
      const { message = '' } = line === '' ? {} : (JSON.parse(line) as { message?: string })
      const [, plan] = /^duration: .* plan:\n([\s\S]*)$/.exec(message) ?? []
      return plan === undefined ? [] : [(JSON.parse(plan) as { Plan: Plan }).Plan]
    })
    return plans.map(examined).reduce((sum, rows) => sum + rows, 0)
  }

  test('looks at a bounded number of them for each page', async () => {
    stopClock()
    const { browser } = await console.signUp('admin')
    const list = '/console/applications/default/messages'
    const pages = [
      '/console',
      list,
      `${list}?state=failed`,
      `${list}?state=delivered`,
      `${list}?state=sent`,
      `${list}?state=queued`,
      `${list}?channel=sms`,
      `${list}?carrier=rare`,
      `${list}?carrier=unknown`,
      `${list}?channel=call&state=delivered`,
      `${list}?from=2000-01-01&to=2100-01-01`,
      '/console/applications/default/traffic',
      '/console/health',
      '/console/applications/default/messages/many7',
      '/console/applications/default/numbers',
      '/console/audit',
    ]
    await examinedSince()
    const figures: [string, number][] = []
    for (const page of pages) {
      const { status } = await browser.get(page)
      expect([page, status]).toEqual([page, 200])
      figures.push([page, await examinedSince()])
    }
    expect(figures.filter(([, rows]) => rows > MOST_EXAMINED)).toEqual([])
    // The measure works.
    await postgres.sql("SELECT count(*) FROM outbox WHERE masked = 'u'")
    expect(await examinedSince()).toBeGreaterThanOrEqual(MESSAGES)
  })
})
