import { ServiceError } from '../errors.js'
import type { MfaService } from '../protocol/service.js'

/**
 * How a service can fail. `down`: it cannot be reached. `late`: it does what it was asked, and the answer comes too
 * late. `doubled`: a request reaches it twice, as through a proxy that repeats it, and the second answer counts.
 * `wrong`: it answers something that is neither yes nor no.
 */
export type TestFailure = 'down' | 'late' | 'doubled' | 'wrong'

/** What a service is asked. */
export type TestVerb = 'send' | 'verify' | 'enrollApp' | 'sendBackupCodes'

/** Which calls fail. */
export interface FailureOptions {
  /** How many calls. Defaults to 1; `Infinity` until `recover()`. */
  readonly times?: number | undefined
  /** Calls of this verb alone. */
  readonly verb?: TestVerb | undefined
}

const ERRORS = {
  down: ['ERR_MFA_SERVICE_UNAVAILABLE', 'The MFA service of the test kit is down, as the test asked for.'],
  late: [
    'ERR_MFA_SERVICE_TIMEOUT',
    'The MFA service of the test kit answered too late, as the test asked for.',
  ],
  wrong: [
    'ERR_MFA_SERVICE_ANSWER',
    'The MFA service of the test kit answered nonsense, as the test asked for.',
  ],
} as const

/** The service, failing when it is told to. */
export function failing(service: MfaService & Required<Pick<MfaService, 'deliveryOf'>>) {
  const planned: { readonly how: TestFailure; readonly verb: TestVerb | undefined; left: number }[] = []

  const next = (verb: TestVerb): TestFailure | undefined => {
    const plan = planned.find((one) => one.left > 0 && (one.verb === undefined || one.verb === verb))
    if (plan) plan.left--
    return plan?.how
  }
  const ask = async <Answer>(verb: TestVerb, work: () => Promise<Answer>): Promise<Answer> => {
    const how = next(verb)
    if (how === 'late' || how === 'doubled') await work()
    if (how === undefined || how === 'doubled') return work()
    const [code, message] = ERRORS[how]
    throw new ServiceError(code, message)
  }

  const wrapped: MfaService = {
    send: (request) => ask('send', () => service.send(request)),
    verify: (request) => ask('verify', () => service.verify(request)),
    enrollApp: (request) => ask('enrollApp', () => service.enrollApp(request)),
    sendBackupCodes: (request) => ask('sendBackupCodes', () => service.sendBackupCodes(request)),
    deliveryOf: (request) => service.deliveryOf(request),
    transcribe: (request) => service.transcribe(request),
  }
  return {
    service: wrapped,
    fail(how: TestFailure, { times = 1, verb }: FailureOptions = {}) {
      planned.push({ how, verb, left: times })
    },
    recover: () => void planned.splice(0),
  }
}
