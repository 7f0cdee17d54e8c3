import { isOutage, ServiceError } from '../errors.js'
import type { MfaService } from '../protocol/service.js'
import type { ServicePart } from '../protocol/verb.js'
import { mapVerbs } from '../protocol/verbs.js'

/** After how many failures the service is paused, and for how long. */
export interface BreakerSettings {
  /** How many calls in a row must fail. */
  readonly failures: number
  readonly pauseMs: number
}

/** Called when a part of the service is paused for that many seconds, and with `undefined` when it is used again. */
export type OnPauseChange = (part: ServicePart, forSeconds: number | undefined) => void

/**
 * Wraps the service in a circuit breaker: after a number of failures in a row, calls fail immediately for a while; then
 * one call checks whether the service works again. A response is never a failure, even if it refuses the code.
 */
export function withBreaker<Service extends MfaService>(
  service: Service,
  settings: BreakerSettings | false,
  onChange: OnPauseChange,
): Service {
  if (!settings) return service
  const breakers = new Map<ServicePart, Breaker>()
  const breakerOf = (part: ServicePart) => {
    const known = breakers.get(part) ?? breaker(settings, (seconds) => onChange(part, seconds))
    breakers.set(part, known)
    return known
  }
  const guarded = mapVerbs(
    service,
    (_name, { part }, call) =>
      (request) =>
        breakerOf(part)(() => call(request)),
  )
  return { ...service, ...guarded }
}

type Breaker = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

function breaker(
  { failures, pauseMs }: BreakerSettings,
  onChange: (forSeconds: number | undefined) => void,
): Breaker {
  let failuresInARow = 0
  let openUntil: number | undefined
  let isProbing = false

  const failed = (wasProbe: boolean) => {
    // A call that started before the pause adds no new information.
    if (openUntil !== undefined && !wasProbe) return
    failuresInARow++
    if (failuresInARow < failures) return
    if (openUntil === undefined) onChange(Math.ceil(pauseMs / 1000))
    openUntil = Date.now() + pauseMs
  }
  const answered = () => {
    failuresInARow = 0
    if (openUntil === undefined) return
    openUntil = undefined
    onChange(undefined)
  }

  return async (call) => {
    const isProbe = openUntil !== undefined
    if (openUntil !== undefined) {
      const waitMs = openUntil - Date.now()
      // A clock that was set back must not extend the pause.
      if (waitMs > 0 && waitMs <= pauseMs) throw paused(waitMs)
      if (isProbing) throw paused(1_000)
      isProbing = true
    }
    try {
      const answer = await call()
      answered()
      return answer
    } catch (error) {
      // A refused API key or request is a response; a pause would not help. Nor may a flood of one account pause those of others.
      if (isOutage(error)) failed(isProbe)
      else if (error instanceof ServiceError) answered()
      throw error
    } finally {
      if (isProbe) isProbing = false
    }
  }
}

function paused(waitMs: number): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_PAUSED',
    'The MFA service failed several times in a row, so it is not called for a moment. See the errors before this one.',
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  )
}
