import { ServiceError } from '../errors.js'
import type { TestService } from './service.js'

/**
 * How the service fails. `down`: it cannot be reached. `late`: it handles the request, but its response comes too late.
 * `doubled`: it receives the request twice, as from a proxy that retries, and returns the second response. `wrong`: its
 * response is invalid.
 */
export type TestFailure = 'down' | 'late' | 'doubled' | 'wrong'

/** A method of the service. */
export type TestVerb = 'send' | 'verify' | 'enrollApp' | 'sendBackupCodes' | KeyVerb

/** A method of the service for security keys and passkeys. */
type KeyVerb = 'registrationOptions' | 'register' | 'authenticationOptions' | 'authenticate'

/** Selects the calls that fail. */
export interface FailureOptions {
  /** How many calls fail. Defaults to 1; with `Infinity` they fail until `recover()`. */
  readonly times?: number | undefined
  /** Only calls of this method fail. Defaults to all methods. */
  readonly verb?: TestVerb | undefined
}

const ERRORS = {
  down: ['ERR_MFA_SERVICE_UNAVAILABLE', 'Simulated failure: the MFA service of the test kit is down.'],
  late: ['ERR_MFA_SERVICE_TIMEOUT', 'Simulated failure: the MFA service of the test kit responded too late.'],
  wrong: [
    'ERR_MFA_SERVICE_ANSWER',
    'Simulated failure: the MFA service of the test kit sent an invalid response.',
  ],
} as const

/** Wraps the service so that a test can make its calls fail. */
export function withFailures(service: TestService) {
  const plans: { readonly how: TestFailure; readonly verb: TestVerb | undefined; left: number }[] = []

  const next = (verb: TestVerb): TestFailure | undefined => {
    const plan = plans.find(
      (candidate) => candidate.left > 0 && (candidate.verb === undefined || candidate.verb === verb),
    )
    if (plan) plan.left--
    return plan?.how
  }
  const call = async <Answer>(verb: TestVerb, work: () => Promise<Answer>): Promise<Answer> => {
    const how = next(verb)
    if (how === 'late' || how === 'doubled') await work()
    if (how === undefined || how === 'doubled') return work()
    const [code, message] = ERRORS[how]
    throw new ServiceError(code, message)
  }

  const { keys } = service
  const wrapped: TestService = {
    send: (request) => call('send', () => service.send(request)),
    verify: (request) => call('verify', () => service.verify(request)),
    enrollApp: (request) => call('enrollApp', () => service.enrollApp(request)),
    sendBackupCodes: (request) => call('sendBackupCodes', () => service.sendBackupCodes(request)),
    factorsOf: (request) => service.factorsOf(request),
    deliveryOf: (request) => service.deliveryOf(request),
    transcribe: (request) => service.transcribe(request),
    ...(keys && {
      keys: {
        ...keys,
        registrationOptions: (request) =>
          call('registrationOptions', () => keys.registrationOptions(request)),
        register: (request) => call('register', () => keys.register(request)),
        authenticationOptions: (request) =>
          call('authenticationOptions', () => keys.authenticationOptions(request)),
        authenticate: (request) => call('authenticate', () => keys.authenticate(request)),
      },
    }),
  }
  return {
    service: wrapped,
    fail(how: TestFailure, { times = 1, verb }: FailureOptions = {}) {
      plans.push({ how, verb, left: times })
    },
    recover: () => void plans.splice(0),
  }
}
