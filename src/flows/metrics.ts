import { METHODS, type Method } from '../protocol/methods.js'
import type { MfaEvent } from './events.js'
import type { RefusalCode } from './refusal.js'

type Way = Method | 'backup'

/** How often something happened, by the way to confirm that it happened with. */
export type ByMethod = Readonly<Record<Way, number>>

/** What happened in this process since it started, as numbers for whoever measures. */
export interface MfaMetrics {
  /** First factors that were shown by somebody who has a second one to show. */
  readonly pendingLogins: number
  /** Challenges and resends, by the way that was chosen. */
  readonly challenged: ByMethod
  /** Codes that the service took for delivery, now or in a moment. */
  readonly sent: ByMethod
  readonly verified: ByMethod
  /** Half-logins that were cancelled, or found expired, by the way that was tried last; `none` when none was. */
  readonly givenUp: ByMethod & { readonly none: number }
  /** Refusals by their code; absent means none. */
  readonly refused: Readonly<Partial<Record<RefusalCode, number>>>
  readonly locked: number
  readonly serviceFailures: number
  /** From the challenge, or the first factor where nothing was asked for, to the right code: the last 1,000 of them. */
  readonly timeToVerify: {
    readonly count: number
    readonly meanMs: number
    readonly medianMs: number
    readonly p95Ms: number
  }
}

/** Counts events as they come, in a few dozen numbers. */
export interface EventMetrics {
  note(event: MfaEvent): void
  read(): MfaMetrics
}

const REMEMBERED_TIMES = 1_000

const WAYS = [...METHODS, 'backup'] as const

const noMethods = () => Object.fromEntries(WAYS.map((way) => [way, 0])) as Record<Way, number>

export function eventMetrics(): EventMetrics {
  const once = { pendingLogins: 0, locked: 0, serviceFailures: 0 }
  const byMethod = { challenged: noMethods(), sent: noMethods(), verified: noMethods() }
  const givenUp = { ...noMethods(), none: 0 }
  const refused: Partial<Record<RefusalCode, number>> = {}
  const times: number[] = []
  let timed = 0

  return {
    note(event) {
      switch (event.type) {
        case 'pending_login_started':
          once.pendingLogins++
          break
        case 'challenged':
          byMethod.challenged[event.method]++
          if (event.delivery !== 'none') byMethod.sent[event.method]++
          break
        case 'verified':
          byMethod.verified[event.method]++
          if (event.afterMs !== undefined) times[timed++ % REMEMBERED_TIMES] = event.afterMs
          break
        case 'given_up':
          givenUp[event.method ?? 'none']++
          break
        case 'refused':
          refused[event.code] = (refused[event.code] ?? 0) + 1
          break
        case 'locked':
          once.locked++
          break
        case 'service_failed':
          once.serviceFailures++
          break
      }
    },

    read() {
      const sorted = times.toSorted((one, other) => one - other)
      const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
      const sum = sorted.reduce((all, one) => all + one, 0)
      return {
        ...once,
        challenged: { ...byMethod.challenged },
        sent: { ...byMethod.sent },
        verified: { ...byMethod.verified },
        givenUp: { ...givenUp },
        refused: { ...refused },
        timeToVerify: {
          count: timed,
          meanMs: sorted.length === 0 ? 0 : Math.round(sum / sorted.length),
          medianMs: at(0.5),
          p95Ms: at(0.95),
        },
      }
    },
  }
}
