import { isOutage, ServiceError } from '../errors.js'
import type { ServiceSettings } from '../options/service.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import type { MfaService } from '../protocol/service.js'
import type { ServicePart } from '../protocol/verb.js'

/** How long calls fail at once before one of them checks whether the service works again. */
const PAUSE_MS = 1_000

/**
 * A circuit breaker: after failures in a row, calls fail for a second; then one call tries again. A refusal is no failure. `onChange` is
 * called when a part of the service is paused, and when it is used again.
 */
export function addBreaker<Service extends MfaService>(
  service: Service,
  settings: ServiceSettings['breaker'],
  onChange: (part: ServicePart, isPaused: boolean) => void,
): Service {
  if (!settings) return service
  const breakers = new Map<ServicePart, Breaker>()
  const createBreaker = (part: ServicePart) => {
    const known = breakers.get(part) ?? breaker(settings.failures, (isPaused) => onChange(part, isPaused))
    breakers.set(part, known)
    return known
  }
  const guarded = mapVerbs(
    service,
    (_name, { part }, call) =>
      (request) =>
        createBreaker(part)(() => call(request)),
  )
  return { ...service, ...guarded }
}

type Breaker = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

function breaker(failures: number, onChange: (isPaused: boolean) => void): Breaker {
  let failuresInARow = 0
  let openUntil: number | undefined
  let isProbing = false

  const recordFailure = (wasProbe: boolean) => {
    // A call that started before the pause adds no new information.
    if (openUntil !== undefined && !wasProbe) return
    failuresInARow++
    if (failuresInARow < failures) return
    if (openUntil === undefined) onChange(true)
    openUntil = Date.now() + PAUSE_MS
  }
  const recordAnswer = () => {
    failuresInARow = 0
    if (openUntil === undefined) return
    openUntil = undefined
    onChange(false)
  }

  return async (call) => {
    const isProbe = openUntil !== undefined
    if (openUntil !== undefined) {
      const waitMs = openUntil - Date.now()
      // A clock that was set back must not extend the pause.
      if (isProbing || (waitMs > 0 && waitMs <= PAUSE_MS)) throw createPauseError()
      isProbing = true
    }
    try {
      const answer = await call()
      recordAnswer()
      return answer
    } catch (error) {
      // A refused API key or request is a response; a pause would not help. Nor may a flood of one account pause the calls of others.
      if (isOutage(error)) recordFailure(isProbe)
      else if (error instanceof ServiceError) recordAnswer()
      throw error
    } finally {
      if (isProbe) isProbing = false
    }
  }
}

function createPauseError(): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_PAUSED',
    'The MFA service failed several times in a row, so it is not called for a moment. See the errors before this one.',
    { retryAfterSeconds: 1 },
  )
}
