import type { TranscribeAnswer, TranscriptionRefusal } from '../protocol/service.js'
import { TRANSCRIPTION_REFUSALS } from '../protocol/wire.js'
import {
  DEFAULT_WAIT_SECONDS,
  invalidResponse,
  objectionIn,
  problemCode,
  refusalIn,
  validFields,
} from './response-validation.js'
import type { Answer } from './transport.js'

type Reason = TranscriptionRefusal['reason']

/** What a status means when the service gives no code that is known. */
const BY_STATUS: Readonly<Record<number, Exclude<Reason, 'busy'>>> = {
  413: 'file_too_large',
  415: 'unsupported_media',
  501: 'transcription_unavailable',
}

/**
 * What an answer to a recording says.
 * @throws {ServiceError} when that is neither a transcript nor an everyday refusal.
 */
export function transcriptIn(answer: Answer): TranscribeAnswer {
  if (answer.status !== 200) return refusedIn(answer)
  if (answer.contentType.startsWith('text/plain')) return { outcome: 'transcribed', text: answer.body.trim() }
  const fields = validFields(answer)
  if (objectionIn(fields) || typeof fields.text !== 'string') {
    throw invalidResponse('status 200 and no transcript')
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
  refusalIn(answer)
  throw invalidResponse(`status ${answer.status} to a recording`)
}

function isReason(code: string): code is Reason {
  return TRANSCRIPTION_REFUSALS.some((reason) => reason === code)
}
