import { jobWire, type streamWire, transcriptionWire } from 'countersign/speech'
import type { Request, RequestHandler, Response } from 'express'
import * as z from 'zod'
import { parseAddress } from '../../../flows/inputs.js'
import { liveUnavailable } from '../../../flows/transcribe-live.js'
import type { Store } from '../../../store/store.js'
import { useTemporaryFolder } from '../../../transcription/decode.js'
import { EngineError, type SpeechOptions } from '../../../transcription/engines/transcriber.js'
import {
  type Job,
  type JobFile,
  TOO_MANY_JOBS_RETRY_SECONDS,
  type TranscriptionJobs,
} from '../../../transcription/jobs/transcription-jobs.js'
import type { LiveTranscription } from '../../../transcription/live/live-transcription.js'
import { writeTranscript } from '../../../transcription/recognized.js'
import { InvalidSourceError, type RecordingSource } from '../../../transcription/sources/recording-source.js'
import { issueTicket } from '../../../transcription/tickets.js'
import type { Transcription } from '../../../transcription/transcription.js'
import { callingApplication } from '../authenticate.js'
import { bodyReader } from '../body.js'
import { callerGoneSignal } from '../error-handler.js'
import {
  createProgressBody,
  eventStream,
  sendTranscript,
  transcriptBody,
  transcriptText,
  wantsEvents,
} from '../event-stream.js'
import { requestId } from '../headers.js'
import { baseUrlOf, problem, problemBody, refuse, refuseField } from '../problem.js'
import { isProblemCode } from '../problem-catalogue.js'
import { readForm, receiveForm } from '../upload.js'

/**
 * `POST /v1/transcribe`: a file by its address, as JSON or a form, or an uploaded file. A caller's text is never used as
 * a path on this machine. With `Accept: text/event-stream`, the response reports the progress as events, and its last event is the
 * result or the problem; what is refused before the recording has arrived is an ordinary response.
 */
export function transcribeRoute(transcription: Transcription): readonly RequestHandler[] {
  async function transcribe(
    request: Request,
    response: Response,
    source: RecordingSource,
    speech: SpeechOptions = {},
  ): Promise<void> {
    try {
      const events = wantsEvents(request) ? eventStream(response) : undefined
      const result = await transcription.recognize(source, logFields(request), {
        ...speech,
        callerGone: callerGoneSignal(response),
        onProgress:
          events && ((progress) => events.send('progress', JSON.stringify(createProgressBody(progress)))),
      })
      if (result.outcome === 'refused') refuse(response, result.refusal)
      else if (events) events.end('result', transcriptText(result))
      else sendTranscript(response, result)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      problem(response, error.code, { retryAfterSeconds: error.retryAfterSeconds })
    }
  }

  return [
    async function transcribeUpload(request, response, next) {
      if (!request.is('multipart/form-data')) return next()
      const source = readForm(request, transcription.fromAddress)
      await transcribe(request, response, source).catch(refuseInvalidForm(response))
    },
    ...bodyReader(),
    async function transcribeAddress(request, response) {
      const parsed = parseAddress(request.body)
      if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
      const { file, ...speech } = parsed.value
      await transcribe(request, response, transcription.fromAddress(file), speech)
    },
  ]
}

const refuseInvalidForm = (response: Response) => (error: unknown) => {
  if (!(error instanceof InvalidSourceError)) throw error
  refuseField(response, error.field, error.message)
}

function logFields(request: Request) {
  return { application: callingApplication(request).id, request: requestId(request) }
}

/** `POST /v1/transcribe/jobs`: the parameters of `POST /v1/transcribe`, for a caller who does not wait. */
export function createJobRoute(jobs: TranscriptionJobs): readonly RequestHandler[] {
  async function create(request: Request, response: Response, file: JobFile, speech: SpeechOptions) {
    // Everything else that is wrong with an address shows when it is fetched.
    if ('address' in file && !transcriptionWire.isAddress(file.address))
      return refuse(response, { reason: 'address_refused' })
    const job = await jobs.create(callingApplication(request).id, file, speech)
    if (!job) return refuseTooMany(response)
    response
      .status(202)
      .location(`${request.baseUrl}${jobWire.JOBS_PATH}/${job.id}`)
      .json(jobBody(job, response))
  }

  /** Whether a refusal was sent, before anything is received. */
  async function isRefused(request: Request, response: Response): Promise<boolean> {
    if (!jobs.isAvailable) refuse(response, { reason: 'transcription_unavailable' })
    else if (await jobs.hasRoom(callingApplication(request).id)) return false
    else refuseTooMany(response)
    return true
  }

  return [
    async function createFromUpload(request, response, next) {
      if (!request.is('multipart/form-data')) return next()
      if (await isRefused(request, response)) return request.resume()
      const callerGone = callerGoneSignal(response)
      await useTemporaryFolder(async (folder) => {
        const form = await receiveForm(request, `${folder}/received`, callerGone, jobs.limits)
        if ('address' in form) return create(request, response, { address: form.address }, form.speech)
        if (form.received.outcome === 'refused') return refuse(response, form.received.refusal)
        await create(request, response, { path: form.received.path }, form.speech)
      }).catch(refuseInvalidForm(response))
    },
    ...bodyReader(),
    async function createFromAddress(request, response) {
      const parsed = parseAddress(request.body)
      if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
      if (await isRefused(request, response)) return
      const { file: address, ...speech } = parsed.value
      await create(request, response, { address }, speech)
    },
  ]
}

/** `GET /v1/transcribe/jobs/:id`: the state of a job, and its transcript. */
export function showJobRoute(jobs: TranscriptionJobs): RequestHandler {
  return async function showJob(request, response) {
    const id = readId(request)
    const job = id && (await jobs.find(callingApplication(request).id, id))
    if (job) response.json(jobBody(job, response))
    else problem(response, 'not_found')
  }
}

/** `DELETE /v1/transcribe/jobs/:id`: cancels a job and deletes what belongs to it. */
export function deleteJobRoute(jobs: TranscriptionJobs): RequestHandler {
  return async function deleteJob(request, response) {
    const id = readId(request)
    if (id && (await jobs.remove(callingApplication(request).id, id))) response.status(204).end()
    else problem(response, 'not_found')
  }
}

/** The id in the path, if it can be a job's. */
function readId({ params: { id } }: Request): string | undefined {
  return typeof id === 'string' && jobWire.JOB_ID.test(id) ? id : undefined
}

function refuseTooMany(response: Response): void {
  problem(response, 'too_many_jobs', { retryAfterSeconds: TOO_MANY_JOBS_RETRY_SECONDS })
}

function jobBody(job: Job, response: Response): z.output<typeof jobWire.transcriptionJobAnswer> {
  const { id, state, createdAt, expiresAt, recognized, problem, detail } = job
  return {
    id,
    state,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    ...(recognized && { result: { ...transcriptBody(recognized), text: writeTranscript(recognized) } }),
    ...(problem !== undefined && {
      problem: problemBody(isProblemCode(problem) ? problem : 'internal_error', baseUrlOf(response), {
        detail,
      }),
    }),
  }
}

/** `POST /v1/transcribe/tickets`: a ticket with which a browser opens one stream. It has no parameters. */
export function ticketRoute(live: LiveTranscription, store: Store): RequestHandler {
  return async function createTicket(request, response) {
    if (request.body !== undefined && !z.record(z.string(), z.unknown()).safeParse(request.body).success) {
      return refuseField(response, 'body', 'must be a JSON object or empty')
    }
    if (!live.isAvailable) {
      return problem(response, 'transcription_unavailable', { detail: liveUnavailable().message })
    }
    const { ticket, expiresInSeconds } = await issueTicket(store, callingApplication(request).id)
    const answer: z.output<typeof streamWire.streamTicketAnswer> = { ticket, expires_in: expiresInSeconds }
    response.json(answer)
  }
}
