import { ServiceError } from '../errors.js'
import type { MfaService, ServicePart } from '../protocol/service.js'

/** When a failing service is left alone, and for how long. */
export interface BreakerSettings {
  /** Failures in a row, without a single answer between them. */
  readonly failures: number
  readonly pauseMs: number
}

/** Is told when a part of the service is left alone (for so many seconds), and when it is used again. */
export type TellPause = (part: ServicePart, forSeconds: number | undefined) => void

/**
 * The service, left alone while it is down: after some failures in a row nothing is asked for a while, then one call
 * tries whether it is back. Answers of any kind, wrong codes included, are no failures.
 */
export function withBreaker(
  service: MfaService,
  settings: BreakerSettings | false,
  tell: TellPause,
): MfaService {
  if (!settings) return service
  const delivery = breaker(settings, (seconds) => tell('delivery', seconds))
  const checking = breaker(settings, (seconds) => tell('checking', seconds))
  const telling = breaker(settings, (seconds) => tell('delivery_state', seconds))
  const { deliveryOf } = service
  return {
    ...service,
    // Whether word of a message is to be had says nothing about whether messages leave.
    ...(deliveryOf && { deliveryOf: (request) => telling(() => deliveryOf(request)) }),
    send: (request) => delivery(() => service.send(request)),
    sendBackupCodes: (request) => delivery(() => service.sendBackupCodes(request)),
    verify: (request) => checking(() => service.verify(request)),
    enrollApp: (request) => checking(() => service.enrollApp(request)),
  }
}

type Guarded = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

function breaker(
  { failures, pauseMs }: BreakerSettings,
  tell: (forSeconds: number | undefined) => void,
): Guarded {
  let inARow = 0
  let openUntil: number | undefined
  let isProbing = false

  const failed = (wasProbe: boolean) => {
    // What was under way when the pause began says nothing new.
    if (openUntil !== undefined && !wasProbe) return
    inARow++
    if (inARow < failures) return
    if (openUntil === undefined) tell(Math.ceil(pauseMs / 1000))
    openUntil = Date.now() + pauseMs
  }
  const answered = () => {
    inARow = 0
    if (openUntil === undefined) return
    openUntil = undefined
    tell(undefined)
  }

  return async (call) => {
    const isProbe = openUntil !== undefined
    if (openUntil !== undefined) {
      const waitMs = openUntil - Date.now()
      // A clock that was set back does not make the pause longer.
      if (waitMs > 0 && waitMs <= pauseMs) throw paused(waitMs)
      if (isProbing) throw paused(1_000)
      isProbing = true
    }
    try {
      const answer = await call()
      answered()
      return answer
    } catch (error) {
      if (isOutage(error)) failed(isProbe)
      else if (error instanceof ServiceError) answered()
      throw error
    } finally {
      if (isProbe) isProbing = false
    }
  }
}

/** A key or a request that the service refuses is an answer: leaving it alone would help nobody. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code !== 'ERR_MFA_SERVICE_KEY' &&
    error.code !== 'ERR_MFA_SERVICE_REQUEST'
  )
}

function paused(waitMs: number): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_PAUSED',
    'The MFA service failed several times in a row and is left alone for a moment; see the errors before this one.',
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  )
}
