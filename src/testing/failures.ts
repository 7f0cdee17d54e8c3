import { ServiceError } from '../errors.js'
import { mapVerbs } from '../protocol/verbs.js'
import type { TestService } from './service.js'

/**
 * How the service fails. `down`: it cannot be reached. `late`: it handles the request, but its response comes too late.
 * `doubled`: it receives the request twice, as from a proxy that retries, and returns the second response. `wrong`: its
 * response is invalid.
 */
export type TestFailure = 'down' | 'late' | 'doubled' | 'wrong'

const TEST_VERBS = [
  'send',
  'verify',
  'enrollApp',
  'sendBackupCodes',
  'registrationOptions',
  'register',
  'authenticationOptions',
  'authenticate',
] as const

/** A method of the service. */
export type TestVerb = (typeof TEST_VERBS)[number]

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

  // An app under test has its backup codes sent, so that the test finds them in its inbox.
  const { createBackupCodes: _shown, removeFactor: _removed, ...offered } = service
  const failing = mapVerbs(offered, (name, _verb, work) => {
    const verb = TEST_VERBS.find((one) => name === one || name === `keys.${one}`)
    return (request) => (verb ? call(verb, () => work(request)) : work(request))
  })
  const wrapped = { ...offered, ...failing }
  return {
    service: wrapped,
    fail(how: TestFailure, { times = 1, verb }: FailureOptions = {}) {
      plans.push({ how, verb, left: times })
    },
    recover: () => void plans.splice(0),
  }
}
