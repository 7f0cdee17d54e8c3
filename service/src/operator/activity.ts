import { ACTIVITY_COUNTS, type ActivityCount, ALL_APPLICATIONS } from '../messages/activity/activity-table.js'
import { CHANNELS } from '../messages/message.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'

/** The periods that can be shown, with the step of their charts. */
export const ACTIVITY_PERIODS = {
  hour: { stepMs: 5 * MINUTE_MS, steps: 12 },
  day: { stepMs: HOUR_MS, steps: 24 },
  month: { stepMs: DAY_MS, steps: 31 },
} as const
/** One of these periods. */
export type ActivityPeriod = keyof typeof ACTIVITY_PERIODS

/** The counts: messages that were sent, carried a code, arrived and failed; attempts that were right and wrong; locks. */
export type ActivityCounts = Readonly<Record<ActivityCount, number>>

/** The counts of a method, country or carrier. */
export interface ActivityGroup extends ActivityCounts {
  /** The name of the method or carrier, or the ISO code of the country; empty where there is none. */
  readonly name: string
}

/** The counts of a country. */
export interface CountryActivity extends ActivityGroup {
  /** The percentage of codes that were typed; `null` when none was sent. */
  readonly percent: number | null
  /** The same in the period before. */
  readonly percentBefore: number | null
  readonly conversion: ConversionState
}

/** The messages that an application, or all of them, sent, and the codes that were typed, in a period. */
export interface ActivityReport {
  /** How long each step is. */
  readonly stepMs: number
  /** The steps of the period from the earliest to the current one, with their beginnings in milliseconds since 1970 (UTC). */
  readonly steps: readonly (ActivityCounts & { readonly startsAt: number })[]
  /** The counts of each method: a channel, `app`, `backup`, or the kind of a key. */
  readonly methods: readonly ActivityGroup[]
  /** By codes sent to phones, most first; at most 100. */
  readonly countries: readonly CountryActivity[]
  /** The counts of each carrier. */
  readonly carriers: readonly ActivityGroup[]
}

/** Which numbers are shown. */
export interface ActivityFilter {
  /** The name of the application. Defaults to the sum over all. */
  readonly application?: string | undefined
  /** Until now: 60 minutes, 24 hours or 31 days, each with the current step. */
  readonly period: ActivityPeriod
}

const MAX_COUNTRIES = 100
/** From how many codes on their share says something, and from how many on that none of them was typed. */
const ENOUGH_CODES = 20
const ENOUGH_UNTYPED = 10
const LOW_PERCENT = 25

const SUMS = ACTIVITY_COUNTS.map((count) => `sum(${count})::bigint AS ${count}`).join(', ')

type Row = ActivityCounts & {
  readonly kind: 'step' | 'method' | 'country' | 'carrier'
  readonly step: number | null
  readonly method: string | null
  readonly country: string | null
  readonly carrier: string | null
}

/** Shows how many messages were sent and codes typed in a period. */
export async function showActivity(
  { store }: Pick<Actor, 'store'>,
  filter: ActivityFilter,
): Promise<ActivityReport> {
  const { application = ALL_APPLICATIONS, period } = filter
  if (application !== ALL_APPLICATIONS) await mustExist(store, application)
  const { stepMs, steps } = ACTIVITY_PERIODS[period]
  const now = Date.now()
  const from = now - (now % stepMs) - (steps - 1) * stepMs
  const rows = await store.query<Row>(
    `SELECT CASE WHEN grouping(step) = 0 THEN 'step' WHEN grouping(method) = 0 THEN 'method'
         WHEN grouping(country) = 0 THEN 'country' ELSE 'carrier' END AS kind,
       step, method, country, carrier, ${SUMS}
     FROM (SELECT *, starts_at - starts_at % $3::bigint AS step FROM activity
       WHERE application = $1 AND starts_at >= $2) AS counted
     GROUP BY GROUPING SETS ((step), (method), (country), (carrier))`,
    [application, from, stepMs],
  )
  const before = await store.query<{ country: string; codes: number; typed: number }>(
    `SELECT country, sum(codes)::bigint AS codes, sum(typed)::bigint AS typed FROM activity
     WHERE application = $1 AND starts_at >= $2 AND starts_at < $3 AND country <> '' GROUP BY country`,
    [application, from - steps * stepMs, from],
  )
  const listOfKind = (kind: Row['kind']) => rows.filter((row) => row.kind === kind)
  const counted = new Map(listOfKind('step').map((row) => [row.step, row]))
  const former = new Map(before.map((row) => [row.country, row]))
  return {
    stepMs,
    steps: Array.from({ length: steps }, (_, index) => {
      const startsAt = from + index * stepMs
      return { startsAt, ...pickCounts(counted.get(startsAt)) }
    }),
    methods: groups(listOfKind('method'), 'method'),
    countries: groups(listOfKind('country'), 'country')
      .filter(({ name }) => name !== '')
      .slice(0, MAX_COUNTRIES)
      .map((group) => compareGroup(group, former.get(group.name))),
    carriers: groups(listOfKind('carrier'), 'carrier').filter(({ name }) => name !== ''),
  }
}

function groups(rows: readonly Row[], kind: 'method' | 'country' | 'carrier'): ActivityGroup[] {
  return rows
    .map((row) => ({ name: row[kind] ?? '', ...pickCounts(row) }))
    .sort((a, b) => b.codes - a.codes || b.sent - a.sent || (a.name < b.name ? -1 : 1))
}

function pickCounts(row: ActivityCounts | undefined): ActivityCounts {
  const entries = ACTIVITY_COUNTS.map((count) => [count, Number(row?.[count] ?? 0)])
  return Object.fromEntries(entries) as Record<ActivityCount, number>
}

type Conversion = Pick<ActivityCounts, 'codes' | 'typed'>

/**
 * The verdict on the number of typed codes: `low` if so few are typed, or so many fewer than before, that it may be SMS pumping; `too few` if
 * not enough were sent to tell.
 */
export type ConversionState = 'fine' | 'low' | 'too few'

/** Judges how many of the codes to phones were typed. `before` is the same of the period before, if it is known. */
export function conversionState(now: Conversion, before?: Conversion): ConversionState {
  const percent = computePercent(now) ?? 0
  if (now.codes < ENOUGH_CODES) return now.typed === 0 && now.codes >= ENOUGH_UNTYPED ? 'low' : 'too few'
  const isHalved = before && before.codes >= ENOUGH_CODES && percent * 2 < (computePercent(before) ?? 0)
  return percent < LOW_PERCENT || isHalved ? 'low' : 'fine'
}

function compareGroup(group: ActivityGroup, before: Conversion | undefined): CountryActivity {
  return {
    ...group,
    percent: computePercent(group),
    percentBefore: before ? computePercent(before) : null,
    conversion: conversionState(group, before),
  }
}

/** The percentage of codes that were typed; `null` when none was sent. A code that was sent before the period began can be typed in it. */
export function computePercent({ codes, typed }: Conversion): number | null {
  return codes === 0 ? null : Math.min(100, Math.round((100 * typed) / codes))
}

/** The messages of all applications in the last hour and in the same hour of last week, and what of it is worse. Apps and keys do not count. */
export interface LastHour {
  /** The last 60 minutes, with the current step of five minutes. */
  readonly now: ActivityCounts
  /** The same minutes a week before, estimated from its hours; `null` when nothing was counted then. */
  readonly before: ActivityCounts | null
  /** The counts that are worse: less than half sent, delivered or typed, or twice the share failed. Small numbers say nothing. */
  readonly worse: readonly ('sent' | 'delivered' | 'typed' | 'failed')[]
}

const WEEK_MS = 7 * DAY_MS
const ENOUGH_MESSAGES = 20
const ENOUGH_FAILED = 5

/** Compares the last hour of all applications with the same hour a week before. */
export async function showLastHour({ store }: Actor): Promise<LastHour> {
  const until = Date.now()
  const { stepMs, steps } = ACTIVITY_PERIODS.hour
  const from = until - (until % stepMs) - (steps - 1) * stepMs
  const read = (first: number, last: number) =>
    store.query<ActivityCounts & { readonly hour: number }>(
      `SELECT starts_at - starts_at % ${HOUR_MS} AS hour, ${SUMS} FROM activity
       WHERE application = $1 AND starts_at >= $2 AND starts_at < $3 AND method = ANY ($4::text[]) GROUP BY 1`,
      [ALL_APPLICATIONS, first, last, CHANNELS],
    )
  const weighCounts = (
    rows: readonly (ActivityCounts & { readonly hour: number })[],
    weigh: typeof computeWeight,
  ) =>
    pickCounts(
      Object.fromEntries(
        ACTIVITY_COUNTS.map((count) => [
          count,
          Math.round(rows.reduce((sum, row) => sum + Number(row[count]) * weigh(row.hour), 0)),
        ]),
      ) as ActivityCounts,
    )
  /** Which part of an hour of last week belongs to the same time. */
  const computeWeight = (hour: number) =>
    Math.max(0, Math.min(hour + HOUR_MS, until - WEEK_MS) - Math.max(hour, from - WEEK_MS)) / HOUR_MS
  const now = weighCounts(await read(from, until), () => 1)
  const former = await read(from - WEEK_MS - ((from - WEEK_MS) % HOUR_MS), until - WEEK_MS)
  const before = former.length > 0 ? weighCounts(former, computeWeight) : null
  return { now, before, worse: before ? findWorse(now, before) : [] }
}

function findWorse(now: ActivityCounts, before: ActivityCounts): LastHour['worse'] {
  const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)
  const isHalved = (part: 'delivered' | 'typed', whole: 'sent' | 'codes') =>
    now[whole] >= ENOUGH_MESSAGES &&
    before[whole] >= ENOUGH_MESSAGES &&
    share(now[part], now[whole]) * 2 < share(before[part], before[whole])
  const isWorse = {
    sent: before.sent >= ENOUGH_MESSAGES && now.sent * 2 < before.sent,
    delivered: isHalved('delivered', 'sent'),
    typed: isHalved('typed', 'codes'),
    failed:
      now.failed >= ENOUGH_FAILED && share(now.failed, now.sent) > 2 * share(before.failed, before.sent),
  }
  return (['sent', 'delivered', 'typed', 'failed'] as const).filter((count) => isWorse[count])
}
