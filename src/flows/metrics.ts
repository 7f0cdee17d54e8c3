import type { Settings } from '../options/settings.js'
import { METHODS, type Method } from '../protocol/methods.js'
import type { MfaEvent, MfaEventBody } from './events.js'
import type { RefusalCode } from './refusal.js'

/** A count for each method. */
type ByMethod = Readonly<Record<Method | 'backup', number>>

/** The events in this process since it started, as counts and durations for monitoring. */
export interface MfaMetrics {
  /** Logins that required a second factor. */
  readonly pendingLogins: number
  /** Challenges and resends. */
  readonly challenged: ByMethod
  /** Codes that the service accepted for delivery. */
  readonly sent: ByMethod
  /** Second factors that were shown. */
  readonly verified: ByMethod
  /** Pending logins that were canceled or expired, by the method of the last challenge; `none` without a challenge. */
  readonly givenUp: ByMethod & { readonly none: number }
  /** Refusals by their code; a code that is absent did not occur. */
  readonly refused: Readonly<Partial<Record<RefusalCode, number>>>
  /** Accounts that were locked. */
  readonly locked: number
  /** Factors that were disabled. */
  readonly factorsDisabled: number
  /** Calls to the service that failed. */
  readonly serviceFailures: number
  /** Recoveries that were requested, canceled and completed. */
  readonly recoveries: { readonly requested: number; readonly canceled: number; readonly completed: number }
  /** Accounts that staff reset. */
  readonly resets: number
  /** From the challenge, or else the first factor, to the correct code: all as `count`, the last 1,000 as times. */
  readonly timeToVerify: {
    readonly count: number
    readonly meanMs: number
    readonly medianMs: number
    readonly p95Ms: number
  }
}

/** Metrics that are counted from events. */
export interface EventMetrics {
  record(event: MfaEvent): void
  read(): MfaMetrics
}

const REMEMBERED_TIMES = 1_000

const zeroByMethod = () =>
  Object.fromEntries([...METHODS, 'backup'].map((method) => [method, 0])) as Record<Method | 'backup', number>

const NO_EVENTS = { pendingLogins: 0, locked: 0, factorsDisabled: 0, serviceFailures: 0, resets: 0 }
const NO_RECOVERIES = { requested: 0, canceled: 0, completed: 0 }
type Total = keyof typeof NO_EVENTS | keyof typeof NO_RECOVERIES

/** The total in which an event counts, if it counts in one. */
const TOTAL_OF: Readonly<Partial<Record<MfaEvent['type'], Total>>> = {
  pending_login_started: 'pendingLogins',
  locked: 'locked',
  factor_disabled: 'factorsDisabled',
  service_failed: 'serviceFailures',
  account_reset: 'resets',
  recovery_requested: 'requested',
  recovery_canceled: 'canceled',
  recovery_completed: 'completed',
}

/** Metrics of this process, which start at zero. */
export function eventMetrics(): EventMetrics {
  const totals = { ...NO_EVENTS, ...NO_RECOVERIES }
  const byMethod = { challenged: zeroByMethod(), sent: zeroByMethod(), verified: zeroByMethod() }
  const givenUp = { ...zeroByMethod(), none: 0 }
  const refused: Partial<Record<RefusalCode, number>> = {}
  const times: number[] = []
  let timed = 0

  return {
    record(event) {
      const total = TOTAL_OF[event.type]
      if (total) totals[total]++
      else if (event.type === 'challenged') {
        byMethod.challenged[event.method]++
        if (event.delivery !== 'none') byMethod.sent[event.method]++
      } else if (event.type === 'verified' || event.type === 'approved') {
        byMethod.verified[event.method]++
        if (event.afterMs !== undefined) times[timed++ % REMEMBERED_TIMES] = event.afterMs
      } else if (event.type === 'given_up') givenUp[event.method ?? 'none']++
      else if (event.type === 'refused') refused[event.code] = (refused[event.code] ?? 0) + 1
    },

    read() {
      const sorted = times.toSorted((one, other) => one - other)
      const getQuantile = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
      const { requested, canceled, completed, ...others } = totals
      const sum = sorted.reduce((all, time) => all + time, 0)
      return {
        ...others,
        challenged: { ...byMethod.challenged },
        sent: { ...byMethod.sent },
        verified: { ...byMethod.verified },
        givenUp: { ...givenUp },
        refused: { ...refused },
        recoveries: { requested, canceled, completed },
        timeToVerify: {
          count: timed,
          meanMs: sorted.length === 0 ? 0 : Math.round(sum / sorted.length),
          medianMs: getQuantile(0.5),
          p95Ms: getQuantile(0.95),
        },
      }
    },
  }
}

/** Who hears of events besides the metrics. */
interface Listeners extends Pick<Settings, 'onEvent' | 'logger'> {
  /** The service refused the API key. */
  onKeyRefused(): void
}

/** Dates an event, counts it and passes it to the host's `onEvent`. It waits for nothing and never throws. */
export function eventSink(
  metrics: EventMetrics,
  { onEvent, onKeyRefused, logger }: Listeners,
): (event: MfaEventBody) => void {
  const logFailure = (error: unknown) =>
    logger.error('countersign: onEvent failed; nothing else was affected', error)
  return (event) => {
    if (event.type === 'service_failed' && event.errorCode === 'ERR_MFA_SERVICE_KEY') onKeyRefused()
    const dated = { at: Date.now(), ...event }
    metrics.record(dated)
    try {
      // Not awaited. Without a handler, a rejection would end the process.
      const listened = onEvent?.(dated)
      if (listened) Promise.resolve(listened).catch(logFailure)
    } catch (error) {
      logFailure(error)
    }
  }
}
