import type { Refused } from 'countersign/protocol'
import type { Application } from '../accounts/application.js'
import { getTrafficFreeTime, HALVINGS, type TrafficRefusal, trafficKeys } from '../accounts/phone-traffic.js'
import { writeTogether } from '../messages/delivery/record-outcomes.js'
import { createStatement, lookUpSql, type Store } from '../store/store.js'
import { describeError, type Logger } from '../telemetry/log/logger.js'
import { countSecondsUntil, DAY_MS } from '../time.js'
import { contactRefused, refuseLimited } from './refusals.js'

/** How long the users who wait for a code have to type it, before untyped codes pause a destination. */
const PAUSE_AFTER_MS = 180_000

/** When to try again while others still type their codes. */
const RETRY_SECONDS = 60

const MAX_TYPED_TOGETHER = 1_000
/** How long typed codes are collected before they are written: a write for each would cost a tenth of its verification. */
const COLLECT_TYPED_MS = 100

/** The treatment of codes for phones, against SMS pumping (R103). */
export type PhoneTraffic = ReturnType<typeof phoneTraffic>

interface Typed {
  readonly application: string
  readonly scope: 'country' | 'prefix'
  readonly key: string
}

const RECORD_TYPED = createStatement<{ typed: string; day: number }>(`WITH typed AS (
    SELECT application, scope, key, count(*)::integer AS codes
    FROM json_to_recordset(:typed::json) AS typed (application text, scope text, key text)
    GROUP BY application, scope, key
  ), held AS MATERIALIZED (
    SELECT typed.* FROM typed JOIN phone_traffic ON ${lookUpSql('phone_traffic.application', 'typed.application')}
      AND ${lookUpSql('phone_traffic.scope', 'typed.scope')} AND ${lookUpSql('phone_traffic.key', 'typed.key')}
    ORDER BY application, scope, key FOR UPDATE OF phone_traffic
  )
  UPDATE phone_traffic AS known SET sent = known.sent >> ${HALVINGS}, typed = (known.typed >> ${HALVINGS}) + held.codes,
    day = greatest(known.day, :day::integer)
  FROM held
  WHERE known.application = held.application AND known.scope = held.scope AND known.key = held.key`)

// The audit entry is written in the statement that pauses, under the name of the service.
const RECORD_UNTYPED = createStatement<
  Record<'application' | 'scope' | 'key', string> & Record<'now' | 'today', number>
>(`WITH held AS MATERIALIZED (
    SELECT exhausted_at FROM phone_traffic
    WHERE application = :application AND scope = :scope AND key = :key AND paused_at IS NULL FOR UPDATE
  ), changed AS (
    UPDATE phone_traffic SET exhausted_at = greatest(held.exhausted_at, CASE WHEN is_first THEN :now::bigint END),
      paused_at = CASE WHEN NOT is_first AND held.exhausted_at <= :now::bigint - ${PAUSE_AFTER_MS} THEN :now::bigint END
    FROM held, LATERAL (SELECT held.exhausted_at < :today::bigint AS is_first) AS alarm
    WHERE application = :application AND scope = :scope AND key = :key
    RETURNING sent, typed, paused_at IS NOT NULL AS is_paused, is_first
  ), audited AS (
    INSERT INTO audit (application, at, who, action, detail)
    SELECT :application, :now, 'service', 'traffic.paused',
      :key || ': ' || typed || ' of ' || sent || ' codes were typed' FROM changed WHERE is_paused
  )
  SELECT * FROM changed`)

interface Changed {
  readonly sent: number
  readonly typed: number
  readonly is_paused: boolean
  readonly is_first: boolean
}

/** The traffic of codes to phones in a store. */
export function phoneTraffic(store: Store, log: Logger) {
  const recording = new Set<Promise<void>>()
  /** The period of the latest alarm of each budget, so that each raises one alarm in a period. */
  const alarms = new Map<string, number>()

  const write = writeTogether<Typed>(
    (all) => RECORD_TYPED.rows(store, { typed: JSON.stringify(all), day: Math.floor(Date.now() / DAY_MS) }),
    { maxItems: MAX_TYPED_TOGETHER, collectMs: COLLECT_TYPED_MS },
  )

  function record(typed: Typed): void {
    const done: Promise<void> = write(typed)
      .catch((error: unknown) =>
        log({
          ...{ level: 'warn', event: 'traffic.typed_not_recorded', application: typed.application },
          detail: describeError(error),
        }),
      )
      .finally(() => recording.delete(done))
    recording.add(done)
  }

  async function refuseUntyped(application: Application, refusal: TrafficRefusal, now: number) {
    const { scope, key } = refusal
    const of = { application: application.id, scope, key, now, today: now - (now % DAY_MS) }
    const changed = await RECORD_UNTYPED.first<Changed>(store, of)
    const counts = changed && `${key}: ${changed.typed} of ${changed.sent} codes were typed`
    if (changed?.is_paused) {
      const detail = `${counts}. Nothing is sent there until: traffic resume ${application.id} ${key}`
      log({ level: 'warn', event: 'traffic.paused', application: application.id, reason: scope, detail })
      return pausedRefusal
    }
    if (changed?.is_first) {
      const fields = { application: application.id, reason: scope, detail: `${counts}.` }
      log({ level: 'warn', event: 'traffic.untyped', ...fields })
    }
    return refuseLimited(RETRY_SECONDS)
  }

  function refuseBudget(application: Application, refusal: TrafficRefusal, now: number): Refused {
    const { scope, key } = refusal
    const freeAt = getTrafficFreeTime(refusal, now)
    const alarm = `${application.id} ${scope} ${key}`
    if (alarms.get(alarm) !== freeAt) {
      if (alarms.size >= 10_000) alarms.clear()
      alarms.set(alarm, freeAt)
      const fields = {
        application: application.id,
        reason: scope,
        detail: `The budget of ${key} is used up.`,
      }
      log({ level: 'warn', event: 'traffic.budget_used_up', ...fields })
    }
    return refuseLimited(countSecondsUntil(freeAt, now))
  }

  return {
    /** Records that a code for this phone was typed, later and together with others. */
    recordTyped(application: Application, phone: string): void {
      const keys = trafficKeys(application, phone)
      if (!keys) return
      record({ application: application.id, scope: 'country', key: keys.country })
      record({ application: application.id, scope: 'prefix', key: keys.prefix })
    },
    /** The refusal of a message that the traffic does not allow. Raises the alarm, and pauses a destination whose codes stay untyped. */
    async refuse(application: Application, refusal: TrafficRefusal, now: number): Promise<Refused> {
      if (refusal.reason === 'paused') return pausedRefusal
      if (refusal.reason === 'untyped') return refuseUntyped(application, refusal, now)
      return refuseBudget(application, refusal, now)
    },
    /** Waits for what is being recorded. */
    async close(): Promise<void> {
      await Promise.all(recording)
    },
  }
}

const pausedRefusal = contactRefused(
  'Messages to phone numbers like this one are paused, because too few of their codes are typed.',
)
