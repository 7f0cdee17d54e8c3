import {
  COUNTERSIGN_CODES,
  type CompleteMfaService,
  KEY_VERBS,
  type KeyVerbs,
  type MfaService,
  VERBS,
} from 'countersign/protocol'
import type { TranscriptionService } from 'countersign/speech'
import { usesInbox } from '../messages/carriers/route.js'
import { createService } from './create-service.js'
import { readOptions, type ServiceOptions } from './options.js'
import type { CountersignService } from './service.js'

/** A service that can be used while it starts. */
export interface StartedService {
  /** The service without HTTP, for Countersign's option `service`. A call waits until the service has started. */
  readonly mfa: CountersignService['mfa']
  /** The messages of the development inbox. Absent when no channel is delivered to the inbox. */
  readonly inbox?: NonNullable<CountersignService['inbox']>
  /** Resolves to the service when it has started. */
  readonly started: Promise<CountersignService>
  /** Waits until the service has started, and closes it. */
  close(): Promise<void>
}

/** All functions of `TranscriptionService` that return a promise. */
const SPEECH_VERBS = {
  transcribe: true,
  createTranscriptionJob: true,
  transcriptionJob: true,
  deleteTranscriptionJob: true,
  createStreamTicket: true,
} as const satisfies Record<Exclude<keyof TranscriptionService, 'transcribeLive'>, true>

/**
 * Starts a service without waiting for it, for CommonJS, which has no `await` at the top of a module. If the service cannot start, the
 * process ends with the error, as it does when `await createService` fails there.
 * @throws {ConfigurationError} with everything that is wrong with the options.
 */
export function startService(options: ServiceOptions): StartedService {
  const hasInbox = usesInbox(readOptions(options).routes)
  const started = createService(options)
  // Calls handle the rejection too, and must not hide it.
  void started.then(() => {})

  const waiting = <Calls>(names: object, serviceOf: (service: CountersignService) => object | undefined) => {
    const calls = Object.keys(names).map((name) => [
      name,
      async (...args: unknown[]): Promise<unknown> => {
        const target = serviceOf(await started) ?? {}
        return Reflect.apply(Reflect.get(target, name), target, args)
      },
    ])
    return Object.fromEntries(calls) as Calls
  }
  type Inbox = NonNullable<CountersignService['inbox']>
  const development = hasInbox && {
    inbox: waiting<Inbox>({ messages: true, key: true }, ({ inbox }) => inbox),
  }
  const mfa: CompleteMfaService & TranscriptionService = {
    ...waiting<Required<Pick<MfaService, keyof typeof VERBS>>>(VERBS, (service) => service.mfa),
    ...waiting<Pick<TranscriptionService, keyof typeof SPEECH_VERBS>>(SPEECH_VERBS, (service) => service.mfa),
    keys: waiting<KeyVerbs>(KEY_VERBS, (service) => service.mfa.keys),
    codes: COUNTERSIGN_CODES,
    approvals: true,
    started: () => started,
    async *transcribeLive(audio, rules) {
      yield* (await started).mfa.transcribeLive?.(audio, rules) ?? []
    },
    ...development,
  }
  return {
    mfa,
    ...development,
    started,
    close: async () => (await started).close(),
  }
}
