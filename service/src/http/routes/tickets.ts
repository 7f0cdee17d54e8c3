import type { streamWire } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import * as z from 'zod'
import { liveUnavailable } from '../../flows/transcribe-live.js'
import type { Store } from '../../store/store.js'
import type { LiveTranscription } from '../../transcription/live/live-transcription.js'
import { issueTicket } from '../../transcription/tickets.js'
import { callingApplication } from '../authenticate.js'
import { problem } from '../problem.js'

/** `POST /v1/transcribe/tickets`: a ticket with which a browser opens one stream. It has no parameters. */
export function ticketRoute(live: LiveTranscription, store: Store): RequestHandler {
  return async function createTicket(request, response) {
    if (request.body !== undefined && !z.record(z.string(), z.unknown()).safeParse(request.body).success) {
      const errors = [{ field: 'body', detail: 'must be a JSON object or empty' }]
      return problem(response, 'invalid_request', { errors })
    }
    if (!live.isAvailable) {
      return problem(response, 'transcription_unavailable', { detail: liveUnavailable().message })
    }
    const { ticket, expiresInSeconds } = await issueTicket(store, callingApplication(request).id)
    const answer: z.output<typeof streamWire.streamTicketAnswer> = { ticket, expires_in: expiresInSeconds }
    response.json(answer)
  }
}
