import { findCountry, isFictional } from '../messages/contacts/phone.js'
import { raiseConflict } from '../store/sql-state.js'
import { DAY_MS, HOUR_MS } from '../time.js'
import type { Application } from './application.js'
import type { Limits } from './limits.js'

/** The digits at the end of a number that its prefix leaves out: a prefix stands for 10,000 numbers. */
const DIGITS_AFTER_PREFIX = 4

/** Prices are counted in millionths, so that sums are exact. */
const MILLIONTHS = 1_000_000

/** Why a message to a phone is refused. */
export interface TrafficRefusal {
  readonly scope: 'country' | 'prefix' | 'spend' | 'phone'
  /** `GB`, `+44770090`, for money `day` or `month`, and `day` for the part of phones in the daily ceiling. */
  readonly key: string
  /** `budget`: of the hour, of the day, or of money. `untyped`: too few of the codes are typed. `paused`: until an operator lifts it. */
  readonly reason: 'budget' | 'untyped' | 'paused'
}

/** A row of `phone_traffic` that a message counts in. */
export interface TrafficCounter {
  /** Its position among the message's; the first one that refuses it is named. */
  readonly position: number
  readonly scope: TrafficRefusal['scope']
  readonly key: string
  /** The number of the current period: hours, days or months. */
  readonly period: number
  readonly amount: number
  /** The sum of amounts that the period allows. */
  readonly allowed: number
  /** Codes that may stay untyped before the conversion counts; -1 if the message is no code. */
  readonly untyped: number
}

/** The column of `trafficColumn`: `scope key reason` of the first refusal, or `null`. */
export interface TrafficRow {
  readonly traffic_refusal: string | null
}

/** How many messages of an application may go to phones in a UTC day. */
export function phoneCeiling(limits: Pick<Limits, 'sendsPerApplicationDay' | 'phoneSendsPercent'>): number {
  return Math.ceil((limits.sendsPerApplicationDay * limits.phoneSendsPercent) / 100)
}

/** The keys under which messages to a phone are counted; none where messages earn nothing. */
export function trafficKeys(
  application: Pick<Application, 'mode'>,
  phone: string,
): { readonly country: string; readonly prefix: string } | undefined {
  if (application.mode === 'test' || isFictional(phone)) return undefined
  return { country: findCountry(phone) ?? '', prefix: phone.slice(0, -DIGITS_AFTER_PREFIX) }
}

/** The counters of a message to a phone (R43, R103); nothing without one. */
export function listTrafficCounters(
  application: Application,
  { phone, isCode }: { readonly phone?: string | undefined; readonly isCode: boolean },
  now: number,
): TrafficCounter[] {
  if (phone === undefined) return []
  const { limits, spending } = application
  const today = Math.floor(now / DAY_MS)
  const part: TrafficCounter = {
    ...{ position: 5, scope: 'phone', key: 'day', period: today, amount: 1, untyped: -1 },
    allowed: phoneCeiling(limits),
  }
  const keys = trafficKeys(application, phone)
  if (!keys) return [part]
  const hour = { period: Math.floor(now / HOUR_MS), amount: 1 }
  const judged = isCode && limits.minConversionPercent > 0
  const byNumber: TrafficCounter[] = [
    {
      ...{ position: 1, scope: 'country', key: keys.country, ...hour, allowed: limits.sendsPerCountryHour },
      untyped: judged ? limits.untypedPerCountry : -1,
    },
    {
      ...{ position: 2, scope: 'prefix', key: keys.prefix, ...hour, allowed: limits.sendsPerPrefixHour },
      untyped: judged ? limits.untypedPerPrefix : -1,
    },
  ]
  const amount = Math.round(priceOf(spending.prices, keys.country) * MILLIONTHS)
  const ceiling = (key: 'day' | 'month', limit: number | undefined): TrafficCounter[] =>
    limit === undefined
      ? []
      : [
          {
            ...{ position: key === 'day' ? 3 : 4, scope: 'spend', key, amount, untyped: -1 },
            period: key === 'day' ? today : getMonth(now),
            allowed: Math.round(limit * MILLIONTHS),
          },
        ]
  return [...byNumber, ...ceiling('day', spending.perDay), ...ceiling('month', spending.perMonth), part]
}

/** A country without a price costs as much as the most expensive one with a price. */
function priceOf(prices: Readonly<Record<string, number>>, country: string): number {
  return prices[country] ?? prices['*'] ?? Math.max(0, ...Object.values(prices))
}

function getMonth(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** When a refused counter allows a message again, in milliseconds since 1970. */
export function getTrafficFreeTime({ key }: TrafficRefusal, now: number): number {
  if (key !== 'day' && key !== 'month') return now - (now % HOUR_MS) + HOUR_MS
  const date = new Date(now)
  if (key === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  return now - (now % DAY_MS) + DAY_MS
}

/** How often counts were halved since a row was written. */
export const HALVINGS = 'least(31, greatest(0, :day::integer - known.day))'

/**
 * Steps of a statement that lock and judge the traffic of the messages in `gate (nr)`, whose counters are in the JSON of `:traffic`;
 * `traffic_refused` has a row for each message that must not be sent. Messages with a counter in common have the same periods, and
 * each is judged as if all before it were sent. So one that is refused may fit in a statement of its own (`isJudgedAfterOthers`).
 */
export const judgeTraffic = (gate: string): string => `traffic AS MATERIALIZED (
    SELECT wanted.*, known.key IS NOT NULL AS is_known,
      CASE WHEN known.period = wanted.period THEN known.in_period ELSE 0 END AS before,
      sum(amount) OVER earlier AS amounts, (count(*) FILTER (WHERE untyped >= 0) OVER earlier)::integer AS codes,
      coalesce(known.sent >> ${HALVINGS}, 0) AS sent, coalesce(known.typed >> ${HALVINGS}, 0) AS typed,
      known.paused_at
    FROM (
      SELECT * FROM json_to_recordset(:traffic::json) AS wanted (nr integer, position integer, scope text, key text,
        period bigint, amount bigint, allowed bigint, untyped integer) JOIN ${gate} USING (nr)
      ORDER BY scope, key
    ) AS wanted
      LEFT JOIN LATERAL (
        SELECT key, period, in_period, day, sent, typed, paused_at FROM phone_traffic
        WHERE application = :application AND phone_traffic.scope = wanted.scope AND phone_traffic.key = wanted.key
        FOR UPDATE
      ) AS known ON true
    WINDOW earlier AS (PARTITION BY wanted.scope, wanted.key ORDER BY wanted.nr)
  ),
  traffic_refused AS MATERIALIZED (
    SELECT DISTINCT ON (nr) nr, scope || ' ' || key || ' ' || reason AS refusal FROM traffic, LATERAL (SELECT CASE
        WHEN paused_at IS NOT NULL THEN 'paused'
        WHEN before + amounts > allowed THEN 'budget'
        WHEN untyped >= 0 AND sent + codes - 1 >= untyped + typed * 100 / :minConversionPercent::integer THEN 'untyped'
      END AS reason) AS judged
    WHERE reason IS NOT NULL ORDER BY nr, position
  )`

/** A step that counts the traffic of the messages in `source (nr)`. */
export const countTraffic = (source: string): string => `traffic_counted AS (
    INSERT INTO phone_traffic AS known (application, scope, key, period, in_period, day, sent, typed)
    SELECT :application, scope, key, period, before + sum(amount), :day::integer, sent + count(*) FILTER (WHERE untyped >= 0), typed
    FROM ${source} JOIN traffic USING (nr) GROUP BY scope, key, period, before, sent, typed ORDER BY scope, key
    ON CONFLICT (application, scope, key) DO UPDATE SET period = EXCLUDED.period, day = EXCLUDED.day,
      sent = EXCLUDED.sent, typed = EXCLUDED.typed,
      in_period = CASE
        WHEN EXISTS (SELECT FROM traffic WHERE traffic.scope = known.scope AND traffic.key = known.key AND is_known)
          THEN EXCLUDED.in_period
        -- Another send created the row since this statement began.
        ELSE ${raiseConflict('known.key')} END
  )`

/** The column of a statement with the steps of `judgeTraffic`, for each row of `source (nr)`: see `TrafficRow`. */
export const trafficColumn = (source: string): string =>
  `(SELECT refusal FROM traffic_refused WHERE traffic_refused.nr = ${source}.nr) AS traffic_refusal`

/** Whether messages that are judged earlier in the same statement have a counter of traffic in common with this one. */
export function isJudgedAfterOthers(
  { traffic }: { readonly traffic: readonly TrafficCounter[] },
  earlier: readonly { readonly traffic: readonly TrafficCounter[] }[],
): boolean {
  const keys = new Set(
    earlier.flatMap((message) => message.traffic.map(({ scope, key }) => `${scope} ${key}`)),
  )
  return traffic.some(({ scope, key }) => keys.has(`${scope} ${key}`))
}

/** The refusal in the column of `trafficColumn`. */
export function readTrafficRefusal({ traffic_refusal }: TrafficRow): TrafficRefusal | undefined {
  if (traffic_refusal === null) return undefined
  const [scope, key, reason] = traffic_refusal.split(' ')
  return { scope, key, reason } as TrafficRefusal
}
