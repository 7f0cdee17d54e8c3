import { DEFAULT_WAIT_SECONDS, problemCode, readRefusal } from '../client/refusals.js'
import { invalidResponse, validFields } from '../client/response-validation.js'
import type { Answer, Transport } from '../client/transport.js'
import { pickGiven } from '../shape.js'
import { JOBS_PATH, transcriptionJobAnswer } from './jobs-wire.js'
import { callTimeoutMs, sendRecording } from './send-recording.js'
import { getMaxBytes, readTranscribed, readTranscript } from './transcript.js'
import type { CreatedTranscriptionJob, TranscriptionJob, TranscriptionJobVerbs } from './transcription.js'
import { TranscriptionError } from './transcription-error.js'
import { isAddress } from './wire.js'

/** Creates the functions for jobs of a client. */
export function jobClient(timeoutMs: number, transport: Transport): TranscriptionJobVerbs {
  return {
    async createTranscriptionJob(request) {
      const { file, timeout } = request
      const limits = {
        timeoutMs: timeout === undefined && isAddress(file) ? timeoutMs : callTimeoutMs(timeout),
      }
      const answer = await sendRecording(transport, JOBS_PATH, request, limits)
      return readCreated(answer)
    },
    async transcriptionJob(id) {
      const answer = await transport.get(getPath(id), timeoutMs, { maxBytes: getMaxBytes('verbose_json') })
      if (answer.status === 404) return undefined
      if (answer.status === 200) return readJob(answer)
      readRefusal(answer)
      throw invalidResponse(`unexpected status ${answer.status}`)
    },
    async deleteTranscriptionJob(id) {
      const answer = await transport.delete(getPath(id))
      if (answer.status === 404 || answer.status === 204) return answer.status === 204
      readRefusal(answer)
      throw invalidResponse(`unexpected status ${answer.status}`)
    },
  }
}

/** The methods of a service that speaks the published API, which has no jobs. */
export const unsupportedJobs: TranscriptionJobVerbs = {
  createTranscriptionJob: () => Promise.reject(createUnsupportedError()),
  transcriptionJob: () => Promise.reject(createUnsupportedError()),
  deleteTranscriptionJob: () => Promise.reject(createUnsupportedError()),
}

function createUnsupportedError(): TranscriptionError {
  return new TranscriptionError(
    'transcription_unavailable',
    'This service speaks the published API, which does not describe transcription jobs. They need the Countersign service.',
  )
}

function getPath(id: string): string {
  return `${JOBS_PATH}/${encodeURIComponent(id)}`
}

function readCreated(answer: Answer): CreatedTranscriptionJob {
  if (answer.status === 202) return { outcome: 'created', job: readJob(answer) }
  const code = problemCode(answer)
  if (code === 'too_many_jobs') {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return { outcome: 'refused', refusal: { reason: code, retryAfterSeconds } }
  }
  const refused = answer.status === 200 ? undefined : readTranscript(answer)
  if (refused?.outcome === 'refused') return refused
  throw invalidResponse(`unexpected status ${answer.status}`)
}

function readJob(answer: Answer): TranscriptionJob {
  const read = transcriptionJobAnswer.safeParse(validFields(answer))
  if (!read.success) throw invalidResponse('a body that is not a transcription job')
  const { id, state, created_at, expires_at, result, problem } = read.data
  return {
    id,
    state,
    createdAt: Date.parse(created_at),
    expiresAt: Date.parse(expires_at),
    ...(result && { transcript: readTranscribed(result) }),
    ...(problem && { failure: problem.code, ...pickGiven({ failureDetail: problem.detail }) }),
  }
}
