import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createService } from '@countersign/service'
import { parser } from '@prometheus-io/lezer-promql'
import type { Contact } from 'countersign/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { fileOf, missing } from '../../test/kit/debian-packages.js'
import { freePort } from '../../test/kit/loopback.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { sourcesIn } from '../../test/layering/scan.js'
import { serviceMetrics } from '../src/api/metrics/metrics.js'
import { carrierPauses } from '../src/messages/carriers/fallback.js'
import type { Operator } from '../src/operator/operator.js'
import { readFileLimit } from '../src/process/file-limit.js'
import { advance, eventually, freshEmail, listen, SECRET, stopClock } from './kit.js'
import { ownPostgres } from './postgres-cluster.js'
import { type Running, startListening } from './processes.js'
import { RELYING_PARTY, registerSoftwareKey } from './software-key.js'

const folder = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const shipped = (name: string) => join(folder('deploy'), name)

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<string, string>>
}
const RULES: readonly Rule[] = parse(readFileSync(shipped('alerts.yml'), 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
)

/** The nodes of one kind in the syntax tree of an expression. */
function parts(expression: string, kind: string): string[] {
  const found: string[] = []
  parser.parse(expression).iterate({
    enter: ({ name, from, to }) => {
      if (name === kind) found.push(expression.slice(from, to))
    },
  })
  return found
}

/** The metrics of a service in which nothing has happened yet. */
let fresh = ''
beforeAll(async () => {
  const service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    delivery: 'inbox',
    logger: () => {},
  })
  const server = await listen(service.api)
  fresh = await (await fetch(`${server.url}/metrics`)).text()
  await server.close()
  await service.close()
})

/** Gauges of the pool of connections, which the embedded database does not have. */
const ON_POSTGRES = [
  'countersign_database_connections',
  'countersign_database_connections_max',
  'countersign_database_waiting',
]

const SOURCES = sourcesIn('service/src').map(({ code }) => code)
const inSources = (pattern: RegExp) =>
  SOURCES.flatMap((code) =>
    [...code.matchAll(pattern)].flatMap(([, found = '']) => found.match(/[\w.]+/g) ?? []),
  )
const EVENTS = inSources(/'([a-z]+\.[a-z_]+)'/g)
/** The labels of the service, and those that Prometheus adds. */
const LABELS = [
  'job',
  'instance',
  'le',
  ...inSources(/labelNames: \[([^\]]+)\]/g),
  ...inSources(/label: '(\w+)'/g),
]

/** Fails for an expression that is not valid, or asks for a metric, label or event that does not exist. */
function expectKnown(expression: string): void {
  const known = [...fresh.matchAll(/^# TYPE (\S+) (\w+)/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  )
  const unknown = [
    ...parts(expression, '⚠').map(() => 'a syntax error'),
    ...parts(expression, 'Identifier').filter((name) => !['up', ...ON_POSTGRES, ...known].includes(name)),
    ...parts(expression, 'LabelName').filter((label) => !LABELS.includes(label)),
    ...[...expression.matchAll(/event="([^"]+)"/g)].flatMap(([, event = '']) =>
      EVENTS.includes(event) ? [] : [event],
    ),
  ]
  expect([expression, unknown]).toEqual([expression, []])
}

const DOCUMENTS = readdirSync(folder('docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(join(folder('docs'), name), 'utf8'))
  .join()
/** The metrics that say the same as an event. */
const COVERED_BY: Readonly<Record<string, string>> = {
  'carrier.paused': 'countersign_carrier_paused',
  'traffic.budget_nearly_used_up': 'countersign_daily_ceiling_used',
  'connections.refused': 'process_open_fds',
  'outbox.unrecorded': 'countersign_unrecorded_messages',
  'traffic.untyped': 'countersign_sends_total',
  'users.locked_out': 'countersign_locked_out_users',
  'webhook.disabled': 'countersign_disabled_webhooks',
}
/** Events that need no person at once: `doctor` warns of the first, and the second is the end of one recording. */
const NO_ALERT = ['countries.unrestricted', 'transcription.failed']

/** When the fault of each alert has been over for an hour, in minutes. */
const RESOLVED_AT = 275
/** A value that is `ok` for ten minutes, then `bad` for 200, then `ok` again. */
const turns = (ok: number, bad: number) => `${ok}x10 ${bad}x200 ${ok}x1500`
/** A counter that stays at `from` for ten minutes, then grows by `step` a minute for 200, and then stays. */
const grows = (from: number, step: number) =>
  `${from}x10 ${from + step}+${step}x200 ${from + 201 * step}x1500`
/** A counter that exists from its first event on, ten minutes later, and grows by `step` a minute for 200 minutes. */
const appears = (step: number) => `_x11 ${step}+${step}x200 ${201 * step}x1500`
/** A queue that grows by 100 a minute for 200 minutes, and is then worked off. */
const queue = '0x10 100+100x200 0x1500'
const event = (name: string) => `countersign_events_total{event="${name}",instance="a"}`
/** An event that happens once, in the eleventh minute of a process. */
const happensOnce = (name: string) => ({ [event(name)]: '0x10 1x1700' })
const sends = 'countersign_sends_total{application="vault",method="sms",outcome="sent"}'
const verifications = (outcome: string) =>
  `countersign_verifications_total{application="vault",method="PHONE",outcome="${outcome}"}`
const onOne = { instance: 'a' }
const ofVault = { application: 'vault' }

/** The course of events from the eleventh minute on. */
interface Fault {
  readonly series: Readonly<Record<string, string>>
  /** Series that a process does not have before their first event: the alert fires also while they are missing. */
  readonly maybe?: Readonly<Record<string, string>>
  /** When it fires, in minutes, with which labels, and the value it shows. */
  readonly at: number
  readonly labels?: Readonly<Record<string, string>>
  readonly value?: number
  /** When it no longer fires. Defaults to an hour after the fault. */
  readonly resolvedAt?: number
}

/** The fault of each alert. */
const FIRING: Readonly<Record<string, Fault>> = {
  CountersignDown: {
    series: { 'up{job="countersign",instance="a"}': turns(1, 0) },
    at: 13,
    labels: { job: 'countersign', ...onOne },
  },
  CountersignNotScraped: {
    series: { 'up{job="countersign",instance="a"}': '1x10 stale _x199 1x1500' },
    at: 20,
    labels: { job: 'countersign' },
  },
  CountersignClockOff: {
    series: { 'countersign_clock_difference_seconds{instance="a"}': turns(0, -90) },
    at: 14,
    labels: onOne,
    value: 90,
  },
  CountersignDatabaseUnavailable: {
    series: {
      'countersign_store_available{instance="a"}': turns(1, 0),
      ...happensOnce('store.unavailable'),
    },
    at: 12,
    labels: onOne,
  },
  CountersignErrors: {
    series: { 'countersign_http_request_seconds_count{status="503",instance="a"}': grows(0, 10) },
    maybe: { 'countersign_http_request_seconds_count{status="200",instance="a"}': '0+90x1700' },
    at: 20,
    labels: onOne,
  },
  CountersignSlow: {
    series: {
      'countersign_http_request_seconds_bucket{route="/v1/mfa/verify",le="0.5",instance="a"}':
        '0+100x10 1000+50x200 11100+100x1500',
      'countersign_http_request_seconds_bucket{route="/v1/mfa/verify",le="1",instance="a"}': '0+100x1700',
      'countersign_http_request_seconds_bucket{route="/v1/mfa/verify",le="+Inf",instance="a"}': '0+100x1700',
    },
    at: 30,
    labels: onOne,
  },
  CountersignConnectionsExhausted: {
    series: { 'countersign_database_waiting{instance="a"}': turns(0, 3) },
    at: 14,
    labels: onOne,
  },
  CountersignQueueGrows: {
    series: { 'countersign_queue_messages{instance="a"}': queue },
    at: 40,
    value: 3_000,
  },
  CountersignMessagesUnrecorded: {
    series: { 'countersign_unrecorded_messages{instance="a"}': turns(0, 7) },
    at: 13,
    labels: onOne,
    value: 7,
  },
  CountersignOutboxFull: {
    series: happensOnce('outbox.full'),
    at: 12,
    labels: { event: 'outbox.full', ...onOne },
  },
  CountersignDeliveriesFail: {
    series: { 'countersign_deliveries_total{channel="sms",outcome="failed"}': grows(0, 50) },
    maybe: { 'countersign_deliveries_total{channel="sms",outcome="sent"}': '0+50x1700' },
    at: 30,
    labels: { channel: 'sms' },
  },
  CountersignCarrierPaused: {
    series: { 'countersign_carrier_paused{carrier="twilio",instance="a"}': turns(0, 1) },
    at: 22,
    labels: { carrier: 'twilio' },
  },
  CountersignMailServerSetUpWrongly: {
    series: happensOnce('carrier.certificate_refused'),
    at: 12,
    labels: { event: 'carrier.certificate_refused' },
  },
  CountersignMailComplaints: {
    series: happensOnce('report.complaint'),
    maybe: { 'countersign_deliveries_total{channel="email",outcome="sent"}': '0+1x1700' },
    at: 20,
    resolvedAt: 1_500,
  },
  CountersignReportsRejected: { series: { [event('report.rejected')]: grows(0, 2) }, at: 16, labels: onOne },
  CountersignDestinationsPaused: {
    series: { 'countersign_paused_destinations{scope="prefix",instance="a"}': turns(0, 2) },
    at: 12,
    labels: { scope: 'prefix' },
    value: 2,
  },
  CountersignDestinationPausedNow: { series: happensOnce('traffic.paused'), at: 12 },
  CountersignCeilingReached: { series: happensOnce('traffic.budget_used_up'), at: 12 },
  CountersignDailyCeilingNear: {
    series: { 'countersign_daily_ceiling_used{application="vault",instance="a"}': '_x11 0.8x200 _x1500' },
    at: 12,
    labels: ofVault,
    value: 80,
  },
  CountersignDailyCeilingReached: {
    series: { 'countersign_daily_ceiling_used{application="vault",instance="a"}': '_x11 1x200 _x1500' },
    at: 12,
    labels: ofVault,
  },
  CountersignPhoneCheckFails: {
    series: { 'countersign_phone_checks_total{outcome="failed"}': grows(0, 50) },
    maybe: { 'countersign_phone_checks_total{outcome="passed"}': '0+50x1700' },
    at: 30,
  },
  CountersignWebhookDisabled: {
    series: { 'countersign_disabled_webhooks{instance="a"}': turns(0, 1) },
    at: 12,
    value: 1,
  },
  CountersignEventsWait: {
    series: { 'countersign_queue_webhook_events{instance="a"}': queue },
    at: 40,
    value: 3_000,
  },
  CountersignEventsLost: { series: happensOnce('webhook.not_written'), at: 12, labels: onOne },
  CountersignJobsWait: {
    series: { 'countersign_queue_transcription_jobs{instance="a"}': turns(0, 30) },
    at: 60,
    value: 30,
  },
  CountersignJobsStalled: {
    series: happensOnce('transcription.jobs_stalled'),
    at: 12,
    labels: { event: 'transcription.jobs_stalled', ...onOne },
  },
  CountersignUsersLockedOut: {
    series: { 'countersign_locked_out_users{application="vault",instance="a"}': turns(0, 3) },
    at: 12,
    labels: ofVault,
    value: 3,
  },
  CountersignUsersLocked: {
    series: { 'countersign_locked_users{application="vault",instance="a"}': turns(0, 60) },
    at: 12,
    labels: ofVault,
    value: 60,
  },
  CountersignKeyCopied: { series: happensOnce('key.counter_went_back'), at: 12 },
  CountersignApiKeyUsedElsewhere: { series: happensOnce('key.new_network'), at: 12 },
  CountersignOperatorsRefused: { series: { [event('console.oidc_refused')]: grows(0, 2) }, at: 16 },
  CountersignCodesNotTyped: {
    series: { [sends]: appears(20) },
    maybe: { [verifications('valid')]: appears(1) },
    at: 40,
    labels: ofVault,
  },
  CountersignGuessing: {
    series: { [verifications('invalid')]: appears(30) },
    maybe: { [verifications('valid')]: appears(1) },
    at: 30,
    labels: ofVault,
  },
  CountersignMaintenanceFails: {
    series: { [event('store.maintenance_failed')]: '0x10 1x50 2x50 3x1500' },
    at: 140,
    resolvedAt: 310,
    labels: { event: 'store.maintenance_failed', ...onOne },
  },
  CountersignFilesRunOut: {
    series: {
      'process_open_fds{job="countersign",instance="a"}': turns(100, 700),
      'process_max_fds{job="countersign",instance="a"}': '1024x1700',
    },
    at: 13,
    labels: { job: 'countersign', ...onOne },
    value: 700,
  },
  CountersignMixedReleases: {
    series: {
      'countersign_build_info{version="1.0.0",instance="a"}': '1x500 stale',
      'countersign_build_info{version="1.1.0",instance="b"}': '_x10 1x1000',
    },
    at: 372,
    resolvedAt: 510,
  },
  CountersignEventLoopLags: {
    series: { 'nodejs_eventloop_lag_p99_seconds{job="countersign",instance="a"}': turns(0, 1) },
    at: 22,
    labels: { job: 'countersign', ...onOne },
  },
}

/** Cases that must not fire an alert, although they look like its fault. */
const HARMLESS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CountersignMailComplaints: {
    ...happensOnce('report.complaint'),
    'countersign_deliveries_total{channel="email",outcome="sent"}': '0+100x1700',
  },
  CountersignCodesNotTyped: { [sends]: appears(20), [verifications('valid')]: appears(7) },
  CountersignGuessing: { [verifications('invalid')]: appears(30), [verifications('valid')]: appears(16) },
}

function faultOf(alert: string): Fault {
  const fault = FIRING[alert]
  if (!fault) throw new Error(`There is no fault for ${alert}.`)
  return fault
}

describe('the alert rules', () => {
  test('have a name, a severity, a summary and a description', () => {
    const names = RULES.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    for (const rule of RULES) {
      expect(rule).toMatchObject({
        alert: expect.stringMatching(/^Countersign[A-Za-z]+$/),
        labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
        annotations: { summary: expect.any(String), description: expect.any(String) },
      })
    }
  })

  test('use only metrics and labels of the service, and events of its log', () => {
    for (const { expr } of RULES) expectKnown(expr)
    for (const expression of [
      'sum by (rate(up[5m])',
      'countersign_unknown',
      'up{unknown="a"}',
      'up{event="a.b"}',
    ])
      expect(() => expectKnown(expression)).toThrow()
  })

  test('are tested with series that an empty process has, or with kinds of them that it does not have yet', () => {
    const faults = Object.values(FIRING).flatMap(({ series, maybe }) => Object.keys({ ...series, ...maybe }))
    for (const series of [...faults, ...Object.values(HARMLESS).flatMap((known) => Object.keys(known))])
      expectKnown(series)
    // A rule must not need what a process shows only after the first such event.
    const missing = Object.values(FIRING).flatMap(({ maybe = {} }) => Object.keys(maybe))
    expect(missing.length).toBeGreaterThan(5)
    for (const series of missing) expect(fresh).not.toContain(`\n${series.slice(0, series.indexOf('{'))}{`)
  })

  test('warn of files that run out before clients have as many as they may', () => {
    const { expr = '' } = RULES.find(({ alert }) => alert === 'CountersignFilesRunOut') ?? {}
    const share = Number(/> (0\.\d+) \*/.exec(expr)?.[1])
    // Beside the database, the log and what Node.js itself opens.
    const ownFiles = 40
    for (const limit of [256, 1_024, 4_096, 1_048_576]) {
      const { connections = 0 } = readFileLimit(limit)
      expect(share * limit).toBeLessThan(0.9 * connections)
      expect(share * limit).toBeGreaterThan(2 * ownFiles)
    }
  })

  test('count each event from zero, because a counter that begins with 1 has not increased', () => {
    const events = RULES.flatMap(({ expr }) => [...expr.matchAll(/event="([^"]+)"/g)])
    expect(events.length).toBeGreaterThan(10)
    for (const [, name] of events) expect(fresh).toContain(`countersign_events_total{event="${name}"} 0`)
  })

  test('cover every warning of the log that a document names', () => {
    const rules = RULES.map(({ expr }) => expr).join()
    const urgent = inSources(/level: '(?:warn|error)',\s+event: '([a-z]+\.[a-z_]+)'/g)
    const named = [...DOCUMENTS.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name = '']) => name)
    const documented = urgent.filter((name) => named.includes(name) && !NO_ALERT.includes(name))
    expect(documented.length).toBeGreaterThan(8)
    const silent = documented.filter((name) => !rules.includes(COVERED_BY[name] ?? `event="${name}"`))
    expect(silent).toEqual([])
  })

  test.skipIf(missing('prometheus'))(
    'each fire when their fault happens, not before, and not when it is over',
    () => {
      expect(Object.keys(FIRING)).toEqual(RULES.map(({ alert }) => alert))
      const testOf = (
        alert: string,
        series: Readonly<Record<string, string>>,
        times: Readonly<Record<number, readonly object[]>>,
      ) => ({
        name: `${alert} by ${Object.keys(series).join()}`,
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: Object.entries(times).map(([minute, exp_alerts]) => ({
          eval_time: `${minute}m`,
          alertname: alert,
          exp_alerts,
        })),
      })
      const faults = RULES.flatMap(({ alert, labels: { severity }, annotations }) => {
        const { series, maybe, at, labels, value, resolvedAt = RESOLVED_AT } = faultOf(alert)
        const shown = (text: string) =>
          text
            .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_whole, label: string) => String({ ...labels }[label]))
            .replace('{{ $value }}', String(value))
        const expected = {
          exp_labels: { severity, ...labels },
          exp_annotations: Object.fromEntries(
            Object.entries(annotations).map(([name, text]) => [name, shown(text)]),
          ),
        }
        const times = { 10: [], [at]: [expected], [resolvedAt]: [] }
        const all = testOf(alert, { ...series, ...maybe }, times)
        return maybe ? [all, testOf(alert, series, { 10: [], [at]: [expected] })] : [all]
      })
      const harmless = Object.entries(HARMLESS).map(([alert, series]) =>
        testOf(alert, series, { [faultOf(alert).at]: [] }),
      )
      const { path, remove } = temporaryFolder()
      try {
        // promtool evaluates each rule of a file in each test, so that each alert gets a file of its own.
        const files = RULES.map((rule) => {
          const tests = [...faults, ...harmless].filter(({ name }) => name.startsWith(`${rule.alert} by `))
          const file = (kind: string) => join(path, `${rule.alert}-${kind}.yml`)
          // JSON is YAML too.
          writeFileSync(file('rules'), JSON.stringify({ groups: [{ name: 'countersign', rules: [rule] }] }))
          writeFileSync(
            file('tests'),
            JSON.stringify({ rule_files: [file('rules')], evaluation_interval: '1m', tests }),
          )
          return file('tests')
        })
        expect(promtool('check', 'rules', shipped('alerts.yml'))).toContain('SUCCESS')
        expect(promtool('test', 'rules', ...files).match(/SUCCESS/g)).toHaveLength(RULES.length)
      } finally {
        remove()
      }
    },
  )
})

describe('the gauge of a paused carrier', () => {
  test('ends with the pause, without a message that tries the carrier again', async () => {
    stopClock()
    const { show, read } = serviceMetrics('0.0.0')
    const { note, list: pauses } = carrierPauses(() => {})
    show({
      ...{ pauses, unrecorded: () => 0, isStoreAvailable: async () => true },
      ...{ lockedOut: async () => [], ceilings: async () => [], clockDifferenceMs: async () => 0 },
    })
    const shown = async () =>
      Number(/^countersign_carrier_paused\{carrier="smtp"\} (\d)$/m.exec((await read()).text)?.[1])
    note('smtp', 10_000)
    expect(await shown()).toBe(1)
    advance(10)
    expect(await shown()).toBe(0)
    note('smtp', 10_000)
    note('smtp', undefined)
    expect(await shown()).toBe(0)
    vi.useRealTimers()
  })
})

describe('the dashboard for Grafana', () => {
  const dashboard = JSON.parse(readFileSync(shipped('grafana.json'), 'utf8'))
  const panels: readonly Panel[] = dashboard.panels.filter(({ type }: Panel) => type !== 'row')
  // Grafana replaces them before Prometheus sees the expression.
  const expressions = panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
  )

  test('asks only for metrics and labels of the service, and events of its log', () => {
    expect(expressions.length).toBeGreaterThan(20)
    for (const expression of expressions) expectKnown(expression)
  })

  test('shows every metric of the service', () => {
    const shown = new Set(expressions.flatMap((expression) => parts(expression, 'Identifier')))
    const all = [...fresh.matchAll(/^# TYPE (countersign_\w+) (\w+)/gm)].map(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [`${name}`],
    )
    expect(all.filter((names) => !names.some((name) => shown.has(name)))).toEqual([])
    for (const name of ON_POSTGRES) expect(shown).toContain(name)
  })

  test('places its panels side by side, each with a title, a description, a source and names of its lines', () => {
    const taken = new Set<string>()
    for (const { title, description, datasource, gridPos, targets } of panels) {
      expect([title, description]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\.$/)])
      expect(datasource.uid).toBe('$' + '{datasource}')
      for (const { legendFormat } of targets) expect(legendFormat).toMatch(/\w/)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, x < 24, taken.has(`${x} ${y}`)]).toEqual([title, true, false])
          taken.add(`${x} ${y}`)
        }
      }
    }
  })

  test('chooses the applications and processes by metrics that exist', () => {
    const variables: readonly { readonly definition?: string }[] = dashboard.templating.list
    const queries = variables.flatMap(({ definition }) => definition ?? [])
    expect(queries).toHaveLength(2)
    for (const query of queries) {
      const [, metric = '', label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
      expectKnown(`sum by (${label}) (${metric})`)
    }
  })
})

interface Panel {
  readonly type: string
  readonly title: string
  readonly description: string
  readonly datasource: { readonly uid: string }
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** The output of promtool; all of it in the error if it fails. */
function promtool(...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(fileOf('prometheus') ?? 'promtool', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout + stderr
}

/** A second for each minute of a rule, so that a test can wait for it. */
function inSeconds(text: string): string {
  return text.replace(/\b(\d+)([mhd])\b/g, (_whole, number, unit) => `${number * (SECONDS[unit] ?? 1)}s`)
}
const SECONDS: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440 }

/** A Prometheus that scrapes services at these ports and evaluates the shipped rules, a minute of theirs in a second. */
async function startPrometheus(ports: readonly number[]) {
  const { path, remove } = temporaryFolder()
  const own = await freePort()
  const rules = RULES.map((rule) => ({
    ...rule,
    expr: rule.expr.replace(/\[\d+[mhd]\]/g, inSeconds),
    ...(rule.for !== undefined && { for: inSeconds(rule.for) }),
  }))
  // JSON is YAML too.
  writeFileSync(join(path, 'rules.yml'), JSON.stringify({ groups: [{ name: 'countersign', rules }] }))
  writeFileSync(
    join(path, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: ['rules.yml'],
      scrape_configs: [
        {
          job_name: 'countersign',
          static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }],
        },
      ],
    }),
  )
  const args = [
    `--config.file=${join(path, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(path, 'data')}`,
    `--web.listen-address=127.0.0.1:${own}`,
  ]
  const server = spawn('/usr/bin/prometheus', args, { stdio: 'ignore' })
  const gone = once(server, 'exit')
  const url = `http://127.0.0.1:${own}/api/v1`
  const ask = async (what: string) => (await (await fetch(`${url}/${what}`)).json()).data
  await eventually(async () => {
    const { result } = await ask('query?query=countersign_build_info')
    expect(result).toHaveLength(ports.length)
  })
  return {
    /** The labels of the alerts of this name that fire. */
    async firing(name: string): Promise<readonly Readonly<Record<string, string>>[]> {
      const { alerts }: { alerts: { state: string; labels: Record<string, string> }[] } = await ask('alerts')
      return alerts.flatMap(({ state, labels }) =>
        state === 'firing' && labels.alertname === name ? [labels] : [],
      )
    },
    /** Waits until every process has been scraped once more. */
    async scrape() {
      const since = Date.now() / 1_000
      await eventually(async () => {
        const { result } = await ask('query?query=min(timestamp(countersign_build_info))')
        expect(Number(result[0].value[1])).toBeGreaterThan(since)
      })
    },
    async stop() {
      server.kill()
      await gone
      remove()
    },
  }
}

describe.skipIf(missing('prometheus', 'postgresql'))(
  'a Prometheus that scrapes a service without traffic',
  () => {
    let postgres: Awaited<ReturnType<typeof ownPostgres>>
    let service: Awaited<ReturnType<typeof createService>>
    let server: Server
    let port = 0
    const openServer = async () => {
      server = createServer(service.api).listen(port, '127.0.0.1')
      await once(server, 'listening')
    }
    const closeServer = async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
    let prometheus: Awaited<ReturnType<typeof startPrometheus>>
    /** A process that may open as many files as is usual. */
    let limited: Running
    const data = temporaryFolder()
    const sockets: Socket[] = []
    beforeAll(async () => {
      postgres = await ownPostgres()
      limited = await startListening({ DATA_DIR: data.path, SERVICE_SECRET: SECRET }, 1_024)
      service = await createService({
        databaseUrl: postgres.url,
        secret: SECRET,
        delivery: 'inbox',
        relyingParty: { id: RELYING_PARTY.id, origins: RELYING_PARTY.origins },
        logger: () => {},
      })
      await registerSoftwareKey(service.mfa, { account: 'ann', contact: freshEmail() }, 'passkey')
      port = await freePort()
      await openServer()
      prometheus = await startPrometheus([port, Number(new URL(limited.url).port)])
    })
    afterAll(async () => {
      for (const socket of sockets) socket.destroy()
      await prometheus?.stop()
      limited?.child.kill('SIGKILL')
      await limited?.ended
      data.remove()
      await closeServer()
      await service.close()
      await postgres.remove()
    })

    const changeSettings = (change: Parameters<Operator['changeSettings']>[1]) =>
      service.operator('ann').changeSettings('default', change)
    /** Phones in many prefixes, to which more codes can be sent than a ceiling allows for one. */
    const phones: Contact[] = []
    const sendCodes = async () => {
      for (let count = 0; count < 20; count++) {
        const digits = String(100_000_000 + phones.length * 10_007).slice(1)
        const contact: Contact = { kind: 'phone', phone: `+4474${digits}` }
        phones.push(contact)
        expect(await service.mfa.send({ method: 'sms', contact })).toMatchObject({ outcome: 'sent' })
      }
    }
    const typeCode = async (contact: Contact) => {
      const to = contact.kind === 'phone' ? contact.phone : contact.email
      const [{ text = '' } = {}] = (await service.inbox?.messages({ to })) ?? []
      const code = /\b\d{6}\b/.exec(text)?.[0] ?? ''
      const verdict = await service.mfa.verify({ method: 'sms', contact, kind: 'code', code })
      expect(verdict).toMatchObject({ outcome: 'valid' })
    }
    const guess = async () => {
      for (let count = 0; count < 40; count++) {
        const contact = freshEmail()
        expect(await service.mfa.verify({ method: 'email', contact, kind: 'code', code: '000000' })).toEqual({
          outcome: 'invalid',
        })
      }
    }

    /** The cause of an alert, and its end. */
    const CAUSES: Readonly<
      Record<
        string,
        {
          readonly labels: object
          begin?(): Promise<unknown>
          /** Done until the alert fires. */
          repeat?(): Promise<unknown>
          end?(): Promise<unknown>
        }
      >
    > = {
      CountersignCodesNotTyped: {
        labels: { severity: 'critical', application: 'default' },
        begin: () => changeSettings({ set: { untypedPerCountry: 100_000, untypedPerPrefix: 10_000 } }),
        repeat: sendCodes,
        async end() {
          const [first, ...others] = phones.slice(-100)
          // The series of valid codes begins with it, and has not increased yet.
          if (first) await typeCode(first)
          await prometheus.scrape()
          for (const phone of others) await typeCode(phone)
        },
      },
      // It ends when a quarter of an hour is over.
      CountersignGuessing: { labels: { severity: 'warning', application: 'default' }, repeat: guess },
      CountersignFilesRunOut: {
        labels: { severity: 'critical', job: 'countersign', instance: expect.any(String) },
        async begin() {
          const target = Number(new URL(limited.url).port)
          // Fewer than clients may have, so that the process still answers.
          for (let count = 0; count < 600; count++) sockets.push(connect(target, '127.0.0.1'))
          await Promise.all(sockets.map((socket) => once(socket, 'connect')))
        },
        async end() {
          for (const socket of sockets) socket.destroy()
        },
      },
      CountersignDatabaseUnavailable: {
        labels: { severity: 'critical', instance: expect.any(String) },
        begin: () => postgres.crash(),
        end: () => postgres.start(),
      },
      CountersignUsersLockedOut: {
        labels: { severity: 'warning', application: 'default' },
        begin: () => changeSettings({ set: { methods: ['email'] }, lockOut: true }),
        end: () => changeSettings({ unset: ['methods'] }),
      },
      CountersignDestinationsPaused: {
        labels: { severity: 'warning', scope: 'prefix' },
        begin: () =>
          postgres.sql(
            "INSERT INTO phone_traffic (application, scope, key, day, paused_at) VALUES ('default', 'prefix', '+44770', 20000, 1)",
          ),
        end: () => postgres.sql('DELETE FROM phone_traffic'),
      },
      CountersignDown: {
        labels: { severity: 'critical', job: 'countersign', instance: expect.any(String) },
        begin: () => closeServer(),
        end: () => openServer(),
      },
    }

    test.each(Object.keys(CAUSES))('fires %s by its cause, and resolves it', async (alert) => {
      const cause = CAUSES[alert]
      expect(await prometheus.firing(alert)).toEqual([])
      await cause?.begin?.()
      await eventually(async () => {
        const firing = await prometheus.firing(alert)
        if (firing.length === 0) await cause?.repeat?.()
        expect(firing).toEqual([{ alertname: alert, ...cause?.labels }])
      })
      await cause?.end?.()
      await eventually(async () => expect(await prometheus.firing(alert)).toEqual([]))
    })
  },
)
