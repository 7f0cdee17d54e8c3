import { ServiceError } from '../errors.js'
import type { TranscribeAnswer, TranscriptionRefusal } from '../protocol/service.js'
import { type ServiceProblemCode, TRANSCRIPTION_REFUSALS } from '../protocol/wire.js'
import {
  contradictionIn,
  DEFAULT_WAIT_SECONDS,
  invalidResponse,
  problemCode,
  refusalIn,
  validFields,
} from './response-validation.js'
import type { Answer } from './transport.js'

type Reason = TranscriptionRefusal['reason']

/** The refusal for a status if the response has no known code. */
const BY_STATUS: Readonly<Record<number, Exclude<Reason, 'busy'>>> = {
  413: 'file_too_large',
  415: 'unsupported_media',
  501: 'transcription_unavailable',
}

const ENGINE_FAILURES: readonly string[] = [
  'engine_failed',
  'engine_unavailable',
] satisfies ServiceProblemCode[]

/**
 * Reads the transcript or the refusal from a response.
 * @throws {ServiceError} if the response is neither.
 */
export function transcriptIn(answer: Answer): TranscribeAnswer {
  if (answer.status !== 200) return refusedIn(answer)
  if (answer.contentType.startsWith('text/plain')) return { outcome: 'transcribed', text: answer.body.trim() }
  const fields = validFields(answer)
  if (contradictionIn(fields) || typeof fields.text !== 'string') {
    throw invalidResponse('status 200 without a transcript')
  }
  const { text, duration, language } = fields
  return {
    outcome: 'transcribed',
    text: text.trim(),
    ...(typeof duration === 'number' && duration >= 0 && { durationSeconds: duration }),
    ...(typeof language === 'string' && language !== '' && { language }),
  }
}

function refusedIn(answer: Answer): TranscribeAnswer {
  const code = problemCode(answer)
  const reason = isReason(code) ? code : BY_STATUS[answer.status]
  if (reason === 'busy' || answer.status === 429) {
    const retryAfterSeconds = answer.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS
    return { outcome: 'refused', refusal: { reason: 'busy', retryAfterSeconds } }
  }
  if (reason) return { outcome: 'refused', refusal: { reason } }
  // Earlier releases of the Countersign service refused silence.
  if (code === 'no_speech') return { outcome: 'transcribed', text: '' }
  if (ENGINE_FAILURES.includes(code)) {
    throw new ServiceError(
      'ERR_MFA_SERVICE_UNAVAILABLE',
      `The transcription engine of the MFA service failed (${code}). See the log of the service.`,
      {
        effect: 'none',
        ...(answer.retryAfterSeconds !== undefined && { retryAfterSeconds: answer.retryAfterSeconds }),
      },
    )
  }
  refusalIn(answer)
  throw invalidResponse(`unexpected status ${answer.status}`)
}

function isReason(code: string): code is Reason {
  return TRANSCRIPTION_REFUSALS.some((reason) => reason === code)
}
