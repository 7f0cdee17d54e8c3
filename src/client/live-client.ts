import { TranscriptionError } from '../errors.js'
import { streamPieces } from '../protocol/stream-pieces.js'
import type { LiveTranscriptionVerbs } from '../protocol/transcription.js'
import { streamTicketAnswer, TICKETS_PATH } from '../protocol/transcription-stream.js'
import type { ServiceSettings } from './address.js'
import { openLiveSocket } from './live-socket.js'
import { invalidResponse, refusalIn, validFields } from './response-validation.js'
import type { Transport } from './transport.js'

/** Realtime transcription by the Countersign service. */
export function liveClient(
  settings: Omit<ServiceSettings, 'dialect'>,
  transport: Transport,
): Required<LiveTranscriptionVerbs> {
  return {
    transcribeLive: (audio, options = {}) =>
      streamPieces(
        audio,
        async (listener) => {
          await transport.identify?.()
          return openLiveSocket(settings, listener, options)
        },
        options.signal,
      ),
    async createStreamTicket() {
      const answer = await transport.post(TICKETS_PATH, {})
      if (answer.status === 501) {
        throw liveUnavailable(
          'The MFA service has no engine for realtime transcription (SERVICE_LIVE_TRANSCRIBER).',
        )
      }
      if (answer.status !== 200) {
        refusalIn(answer)
        throw invalidResponse(`unexpected status ${answer.status}`)
      }
      const read = streamTicketAnswer.safeParse(validFields(answer))
      if (!read.success) throw invalidResponse('a body without a ticket')
      return { ticket: read.data.ticket, expiresInSeconds: read.data.expires_in }
    },
  }
}

/** The methods of a service that speaks the published API, which does not describe realtime transcription. */
export const unsupportedLive: Required<LiveTranscriptionVerbs> = {
  transcribeLive: () => streamPieces(nothing(), () => Promise.reject(unsupported())),
  createStreamTicket: () => Promise.reject(unsupported()),
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function unsupported(): TranscriptionError {
  return liveUnavailable(
    'This service speaks the published API, which does not describe realtime transcription. It needs the Countersign service.',
  )
}

function liveUnavailable(message: string): TranscriptionError {
  return new TranscriptionError('transcription_unavailable', message)
}
