import type { Application } from '../application.js'
import { countryOf, isFictional } from '../contacts/phone.js'
import { raiseConflict } from '../store/raise-conflict.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The digits at the end of a number that its prefix leaves out: a prefix stands for 10,000 numbers. */
const DIGITS_AFTER_PREFIX = 4

/** Prices are counted in millionths, so that sums are exact. */
const MILLIONTHS = 1_000_000

/** Why a message to a phone is refused. */
export interface TrafficRefusal {
  readonly scope: 'country' | 'prefix' | 'spend'
  /** `GB`, `+44770090`, or for money `day` or `month`. */
  readonly key: string
  /** `budget`: of the hour, or of money. `untyped`: too few of the codes are typed. `paused`: until an operator lifts it. */
  readonly reason: 'budget' | 'untyped' | 'paused'
}

/** A row of `phone_traffic` that a message counts in. */
interface TrafficCounter {
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

/** The parameters of `trafficSteps`. */
export type TrafficParameters = {
  readonly trafficScopes: readonly string[]
  readonly trafficKeys: readonly string[]
  readonly trafficPeriods: readonly number[]
  readonly trafficAmounts: readonly number[]
  readonly trafficAllowed: readonly number[]
  readonly trafficUntyped: readonly number[]
  readonly minConversionPercent: number
}

/** The column of `TRAFFIC_COLUMN`: `scope key reason` of the first refusal, or `null`. */
export interface TrafficRow {
  readonly traffic_refusal: string | null
}

/** The keys under which messages to a phone are counted; none where nobody can earn anything by them. */
export function trafficKeys(
  application: Pick<Application, 'mode'>,
  phone: string,
): { readonly country: string; readonly prefix: string } | undefined {
  if (application.mode === 'test' || isFictional(phone)) return undefined
  return { country: countryOf(phone) ?? '', prefix: phone.slice(0, -DIGITS_AFTER_PREFIX) }
}

/** The parameters that count a message to a phone (R103), and nothing without one. */
export function trafficParameters(
  application: Application,
  message: { readonly phone: string | undefined; readonly isCode: boolean },
  now: number,
): TrafficParameters {
  const counters =
    message.phone === undefined ? [] : countersOf(application, message.phone, message.isCode, now)
  return {
    trafficScopes: counters.map(({ scope }) => scope),
    trafficKeys: counters.map(({ key }) => key),
    trafficPeriods: counters.map(({ period }) => period),
    trafficAmounts: counters.map(({ amount }) => amount),
    trafficAllowed: counters.map(({ allowed }) => allowed),
    trafficUntyped: counters.map(({ untyped }) => untyped),
    minConversionPercent: application.limits.minConversionPercent,
  }
}

/** Ordered by scope and key, the order in which they are locked. */
function countersOf(application: Application, phone: string, isCode: boolean, now: number): TrafficCounter[] {
  const keys = trafficKeys(application, phone)
  if (!keys) return []
  const { limits, spending } = application
  const hour = { period: Math.floor(now / HOUR_MS), amount: 1 }
  const judged = isCode && limits.minConversionPercent > 0
  const byNumber: TrafficCounter[] = [
    {
      ...{ scope: 'country', key: keys.country, ...hour, allowed: limits.sendsPerCountryHour },
      untyped: judged ? limits.untypedPerCountry : -1,
    },
    {
      ...{ scope: 'prefix', key: keys.prefix, ...hour, allowed: limits.sendsPerPrefixHour },
      untyped: judged ? limits.untypedPerPrefix : -1,
    },
  ]
  const amount = Math.round(priceOf(spending.prices, keys.country) * MILLIONTHS)
  const ceiling = (key: 'day' | 'month', limit: number | undefined): TrafficCounter[] =>
    limit === undefined
      ? []
      : [
          {
            ...{ scope: 'spend', key, amount, untyped: -1 },
            period: key === 'day' ? Math.floor(now / DAY_MS) : monthOf(now),
            allowed: Math.round(limit * MILLIONTHS),
          },
        ]
  return [...byNumber, ...ceiling('day', spending.perDay), ...ceiling('month', spending.perMonth)]
}

/** A country without a price costs as much as the most expensive one with a price. */
function priceOf(prices: Readonly<Record<string, number>>, country: string): number {
  return prices[country] ?? prices['*'] ?? Math.max(0, ...Object.values(prices))
}

function monthOf(time: number): number {
  const date = new Date(time)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** When a refused counter allows a message again, in milliseconds since 1970. */
export function trafficFreeAt({ scope, key }: TrafficRefusal, now: number): number {
  if (scope !== 'spend') return now - (now % HOUR_MS) + HOUR_MS
  const date = new Date(now)
  if (key === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  return now - (now % DAY_MS) + DAY_MS
}

/** How often counts were halved since a row was written. */
export const HALVINGS = 'least(31, greatest(0, :day::integer - known.day))'

/** Steps of a statement that lock and judge the traffic of a message; `traffic_refused` has a row if it must not be sent. */
export const judgeTraffic = (gate: string): string => `traffic AS MATERIALIZED (
    SELECT wanted.*, known.key IS NOT NULL AS is_known,
      CASE WHEN known.period = wanted.period THEN known.in_period ELSE 0 END + wanted.amount AS after,
      coalesce(known.sent >> ${HALVINGS}, 0) AS sent, coalesce(known.typed >> ${HALVINGS}, 0) AS typed,
      known.paused_at
    FROM ${gate},
      unnest(:trafficScopes::text[], :trafficKeys::text[], :trafficPeriods::bigint[], :trafficAmounts::bigint[],
        :trafficAllowed::bigint[], :trafficUntyped::integer[])
        WITH ORDINALITY AS wanted (scope, key, period, amount, allowed, untyped, position)
      LEFT JOIN LATERAL (
        SELECT key, period, in_period, day, sent, typed, paused_at FROM phone_traffic
        WHERE application = :application AND phone_traffic.scope = wanted.scope AND phone_traffic.key = wanted.key
        FOR UPDATE
      ) AS known ON true
  ),
  traffic_refused AS MATERIALIZED (
    SELECT scope || ' ' || key || ' ' || reason AS refusal FROM traffic, LATERAL (SELECT CASE
        WHEN paused_at IS NOT NULL THEN 'paused'
        WHEN after > allowed THEN 'budget'
        WHEN untyped >= 0 AND sent >= untyped + typed * 100 / :minConversionPercent::integer THEN 'untyped'
      END AS reason) AS judged
    WHERE reason IS NOT NULL ORDER BY position LIMIT 1
  )`

/** A step that counts the traffic of a message for the row of `source`. */
export const countTraffic = (source: string): string => `traffic_counted AS (
    INSERT INTO phone_traffic AS known (application, scope, key, period, in_period, day, sent, typed)
    SELECT :application, scope, key, period, after, :day::integer, sent + CASE WHEN untyped < 0 THEN 0 ELSE 1 END, typed
    FROM ${source} AS allowed, traffic
    ON CONFLICT (application, scope, key) DO UPDATE SET period = EXCLUDED.period, day = EXCLUDED.day,
      sent = EXCLUDED.sent, typed = EXCLUDED.typed,
      in_period = CASE
        WHEN EXISTS (SELECT FROM traffic WHERE traffic.scope = known.scope AND traffic.key = known.key AND is_known)
          THEN EXCLUDED.in_period
        -- Another send created the row since this statement began.
        ELSE ${raiseConflict('known.key')} END
  )`

/** The column of a statement with the steps of `judgeTraffic`: see `TrafficRow`. */
export const TRAFFIC_COLUMN = '(SELECT refusal FROM traffic_refused) AS traffic_refusal'

/** The refusal in the column of `TRAFFIC_COLUMN`. */
export function trafficRefusalIn({ traffic_refusal }: TrafficRow): TrafficRefusal | undefined {
  if (traffic_refusal === null) return undefined
  const [scope, key, reason] = traffic_refusal.split(' ')
  return { scope, key, reason } as TrafficRefusal
}
