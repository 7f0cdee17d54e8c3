import {
  COUNTERSIGN_CODES,
  type CompleteMfaService,
  formatUser,
  KEY_VERBS,
  type KeyVerbs,
  type MfaService,
  ownParametersOf,
  type RequestOf,
  ServiceError,
  VERBS,
} from 'countersign/protocol'
import { type TranscriptionJob, type TranscriptionService, transcriptionWire } from 'countersign/speech'
import type { Application } from '../accounts/application.js'
import { EngineError } from '../transcription/engines/transcriber.js'
import { type Job, TOO_MANY_JOBS_RETRY_SECONDS } from '../transcription/jobs/transcription-jobs.js'
import { answerOf } from '../transcription/recognized.js'
import { createPathSource, fileStats } from '../transcription/sources/from-address.js'
import { issueTicket } from '../transcription/tickets.js'
import { ACCOUNT_BUSY_SECONDS, type FlowContext } from './context.js'
import { type ForeignSecret, importApp } from './enroll-app.js'
import { type Parsed, parseTranscribe, parseVerb } from './inputs.js'
import { liveUnavailable, transcribeLive } from './transcribe-live.js'
import { FLOWS, joinFlows, KEY_FLOWS, takesBody, type VerbFlow } from './verb-flows.js'

function userFields(request: RequestOf<'factorsOf'>) {
  return {
    User: formatUser(request.contact),
    Account: request.account,
    ClientAddress: request.clientAddress,
    Locale: request.locale,
  }
}

/** Runs a flow. Invalid parameters throw a `ServiceError` `ERR_MFA_SERVICE_REQUEST`, a failing flow `ERR_MFA_SERVICE_UNAVAILABLE`. */
async function answer<Input, Answer>(
  parsed: Parsed<Input>,
  flow: (input: Input) => Promise<Answer>,
): Promise<Answer> {
  if (!parsed.ok) {
    const errors = parsed.errors.map(({ field, detail }) => `${field} ${detail}`).join('; ')
    throw new ServiceError('ERR_MFA_SERVICE_REQUEST', `The MFA service cannot use this request: ${errors}.`)
  }
  try {
    return await flow(parsed.value)
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    if (cause instanceof EngineError) {
      throw new ServiceError(
        'ERR_MFA_SERVICE_UNAVAILABLE',
        'The transcription engine of the MFA service failed. See its log.',
        { retryAfterSeconds: cause.retryAfterSeconds },
      )
    }
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'The MFA service in this process failed.', {
      cause: removeDetails(cause),
    })
  }
}

/** `answer` for flows about an account. Throws a `ServiceError` `ERR_MFA_SERVICE_BUSY` when too many of it are under way (R139). */
function accountAnswers(context: FlowContext, findApplication: () => Promise<Application>) {
  return <Input extends { readonly account: string }, Answer>(
    parsed: Parsed<Input>,
    flow: (context: FlowContext, application: Application, input: Input) => Promise<Answer>,
  ): Promise<Answer> =>
    answer(parsed, async (input) => {
      const application = await findApplication()
      const leave = context.underWay.enter(application, input.account)
      if (!leave) throw accountBusy()
      try {
        return await flow(context, application, input)
      } finally {
        leave()
      }
    })
}

/** The methods of these verbs without HTTP. They validate the same parameters as the routes. */
function inProcessVerbs<Service extends object>(
  flows: { readonly [Name in keyof Service]: VerbFlow },
  context: FlowContext,
  findApplication: () => Promise<Application>,
): Service {
  const ofAccount = accountAnswers(context, findApplication)
  const createMethod = ({ verb, flow }: VerbFlow) => {
    if (!takesBody(verb)) {
      return (request: unknown) =>
        answer({ ok: true, value: request }, async () => flow(context, await findApplication(), request))
    }
    return (request: RequestOf<'factorsOf'>) =>
      ofAccount(parseVerb(verb, { ...userFields(request), ...ownParametersOf(verb, request) }), flow)
  }
  const methods = Object.entries<VerbFlow>(flows).map(([name, verbFlow]) => [name, createMethod(verbFlow)])
  return Object.fromEntries(methods)
}

function accountBusy(): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_BUSY',
    'The MFA service is handling as many requests of this account as it allows. The limit is the option requestsPerAccount.',
    { retryAfterSeconds: ACCOUNT_BUSY_SECONDS },
  )
}

/** The error without other properties: the host would log them with ours, and those of a database error may contain a contact (R89). */
function removeDetails(cause: unknown): unknown {
  if (!(cause instanceof Error)) return undefined
  const { name, message, stack } = cause
  const code: unknown = 'code' in cause ? cause.code : undefined
  const bare = Object.assign(new Error(message), { name, ...(typeof code === 'string' && { code }) })
  if (stack !== undefined) bare.stack = stack
  return bare
}

/**
 * The service without HTTP, for one application, which is looked up for each call. Invalid requests throw a `ServiceError` with code
 * `ERR_MFA_SERVICE_REQUEST`, a failing store one with `ERR_MFA_SERVICE_UNAVAILABLE`.
 */
export function inProcessService(
  context: FlowContext,
  findApplication: () => Promise<Application>,
): CompleteMfaService & TranscriptionService {
  return {
    ...inProcessVerbs<Required<Pick<MfaService, keyof typeof VERBS>>>(
      joinFlows(VERBS, FLOWS),
      context,
      findApplication,
    ),
    keys: inProcessVerbs<KeyVerbs>(joinFlows(KEY_VERBS, KEY_FLOWS), context, findApplication),
    codes: COUNTERSIGN_CODES,
    approvals: true,
    async transcribe(request) {
      if (!transcriptionWire.isAddress(request.file)) await fileStats(request.file)
      const { signal: callerGone, onProgress } = request
      try {
        return await answer(
          parseTranscribe({ ...request, response_format: request.format }),
          async (input) => {
            const { file, ...speech } = input
            const source = transcriptionWire.isAddress(file)
              ? context.transcription.fromAddress(file)
              : createPathSource(file)
            const origin = { application: (await findApplication()).id }
            return context.transcription.transcribe(source, origin, { ...speech, callerGone, onProgress })
          },
        )
      } catch (error) {
        throw callerGone?.aborted ? callerGone.reason : error
      }
    },
    ...inProcessJobs(context, findApplication),
    async *transcribeLive(audio, options) {
      yield* transcribeLive(context.live, (await findApplication()).id, audio, options)
    },
    async createStreamTicket() {
      if (!context.live.isAvailable) throw liveUnavailable()
      return issueTicket(context.store, (await findApplication()).id)
    },
  }
}

/** Binds an authenticator app whose secret exists already, for example in another system. */
export type ImportAppRequest = RequestOf<'enrollApp'> & ForeignSecret

/** `importApp` for one application; requests are validated like all others. */
export function appImporter(context: FlowContext, findApplication: () => Promise<Application>) {
  const ofAccount = accountAnswers(context, findApplication)
  return async (request: ImportAppRequest): Promise<'bound' | 'kept'> =>
    ofAccount(
      // Callers without types may pass anything.
      parseVerb(VERBS.enrollApp, typeof request?.contact?.kind === 'string' ? userFields(request) : {}),
      (context, application, input) => importApp(context, application, input, request),
    )
}

type JobVerbs = Required<
  Pick<TranscriptionService, 'createTranscriptionJob' | 'transcriptionJob' | 'deleteTranscriptionJob'>
>

function inProcessJobs({ jobs }: FlowContext, findApplication: () => Promise<Application>): JobVerbs {
  const answerWithId = <Result>(id: string, use: (application: string) => Promise<Result>) =>
    answer({ ok: true, value: id }, async () => use((await findApplication()).id))

  return {
    async createTranscriptionJob(request) {
      const stats = transcriptionWire.isAddress(request.file) ? undefined : await fileStats(request.file)
      return answer(parseTranscribe({ ...request, response_format: request.format }), async (input) => {
        if (!jobs.isAvailable) return createRefused({ reason: 'transcription_unavailable' })
        if (stats && stats.size > jobs.limits.maxBytes) return createRefused({ reason: 'file_too_large' })
        const { file, ...speech } = input
        const source = stats ? { path: file } : { address: file }
        const job = await jobs.create((await findApplication()).id, source, speech)
        if (!job)
          return createRefused({ reason: 'too_many_jobs', retryAfterSeconds: TOO_MANY_JOBS_RETRY_SECONDS })
        return { outcome: 'created' as const, job: publicJob(job) }
      })
    },
    transcriptionJob: (id) =>
      answerWithId(id, async (application) => {
        const job = await jobs.find(application, id)
        return job && publicJob(job)
      }),
    deleteTranscriptionJob: (id) => answerWithId(id, (application) => jobs.remove(application, id)),
  }
}

function createRefused<Refusal>(refusal: Refusal) {
  return { outcome: 'refused' as const, refusal }
}

function publicJob({ recognized, problem, detail, ...job }: Job): TranscriptionJob {
  const transcript = recognized && answerOf(recognized)
  return {
    ...job,
    ...(transcript?.outcome === 'transcribed' && { transcript }),
    ...(problem !== undefined && { failure: problem }),
    ...(detail !== undefined && { failureDetail: detail }),
  }
}
