import { type TranscribeAnswer, type TranscribeRequest, TranscriptionError } from 'countersign/speech'
import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { readBody } from '../http/body.js'
import { asProblem, problemBody } from '../http/errors.js'
import { browserGone, eventStream, wantsEvents } from '../http/event-stream.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem, type TranscriptionRefusal } from '../http/problem.js'
import { ownScripts } from '../http/security-headers.js'
import { customer, signedIn } from '../http/signed-in.js'
import { withUpload } from '../http/upload.js'
import { transcribePage } from '../views/transcribe-page.js'

// `transcribe` treats anything that is not an address as a path on this machine, so users may only enter addresses.
const addressed = z.object({
  file: z
    .string({ error: 'must be the address of a recording' })
    .regex(/^https?:\/\/[^\s/]\S*$/i, { error: 'must be an address that begins with https://' })
    .max(2_048),
})

const DETAILS: Readonly<Record<TranscriptionRefusal['reason'], string>> = {
  transcription_unavailable: 'The MFA service has no transcription engine.',
  busy: 'Other recordings are being transcribed. Try again in a moment.',
  address_refused: 'Enter a public https address of the file itself, or choose a file.',
  fetch_failed: 'Check that the address opens without signing in, or choose a file.',
  file_too_large: 'Choose a file of at most 25 MB.',
  recording_too_long: 'Choose a recording of at most 10 minutes.',
  unsupported_media: 'Choose an audio or video file, such as MP3, M4A, Ogg, WAV, MP4 or WebM.',
  recording_damaged: 'Choose another copy of the file: most of this one cannot be played.',
  language_unavailable: 'The transcription engine does not have this language.',
  timestamps_unavailable: 'The transcription engine gives no times.',
}

/** How a call is watched. */
type Watch = Pick<TranscribeRequest, 'onProgress' | 'signal'>

/** `GET /transcribe`, `POST /transcribe`, `POST /transcribe/ticket` */
export function transcribeRoutes(context: VaultContext): Router {
  const { transcriber, streamTickets, streamOrigin } = context
  const router = Router()
  const scripts = ownScripts(streamOrigin)

  const transcribe = (req: Request, watch: Watch): Promise<TranscribeAnswer> => {
    if (!req.is('multipart/form-data')) {
      return transcriber.transcribe({ ...readBody(req, addressed), ...watch })
    }
    return withUpload(req, async ({ path, address }) => {
      if (path !== undefined) return transcriber.transcribe({ file: path, ...watch })
      const { success, data } = addressed.safeParse({ file: address })
      if (!success) throw new Problem('invalid_request', 'Choose a file, or enter an https address.')
      return transcriber.transcribe({ ...data, ...watch })
    })
  }

  /** Responds with the progress as events, then with the transcript or the problem. */
  const transcribeWithEvents = async (req: Request, res: Response) => {
    const events = eventStream(res)
    const signal = browserGone(res)
    try {
      const onProgress: Watch['onProgress'] = (progress) => events.send('progress', progress)
      const { text, durationSeconds } = transcriptOf(await transcribe(req, { signal, onProgress }))
      events.send('transcript', { text, durationSeconds })
    } catch (error) {
      if (signal.aborted) return
      if (!events.hasBegun) throw error
      events.send('problem', problemBody(asProblem(error)))
    }
    res.end()
  }

  router.get('/transcribe', signedIn, scripts, (req, res) => {
    res.send(transcribePage({ user: customer(req), frame: frameOf(req, context) }))
  })

  router.post('/transcribe', signedIn, scripts, async (req, res) => {
    if (wantsEvents(req)) return transcribeWithEvents(req, res)
    const shared = { user: customer(req), frame: frameOf(req, context) }
    try {
      const { text, durationSeconds } = transcriptOf(await transcribe(req, { signal: browserGone(res) }))
      if (wantsJson(req)) res.json({ text, durationSeconds })
      else res.send(transcribePage({ ...shared, transcript: { text, durationSeconds } }))
    } catch (error) {
      if (!(error instanceof Problem) || wantsJson(req)) throw error
      const message = { tone: 'error', text: `${error.title}. ${error.detail}` } as const
      res.status(error.status).send(transcribePage({ ...shared, message }))
    }
  })

  // The browser opens the stream itself, so that speech takes no detour, and never has the API key.
  router.post('/transcribe/ticket', signedIn, async (req, res) => {
    const wait = await streamTickets.take(customer(req).id)
    if (wait > 0)
      throw new Problem('too_many_attempts', 'You started too often. Try again in a minute.', wait)
    const { ticket } = await transcriber.createStreamTicket().catch((error: unknown) => {
      if (error instanceof TranscriptionError && error.reason === 'transcription_unavailable') {
        throw new Problem('transcription_unavailable', LIVE_UNAVAILABLE)
      }
      throw error
    })
    res.json({ ticket, url: `${streamOrigin ?? ''}/v1/transcribe/stream` })
  })

  return router
}

const LIVE_UNAVAILABLE = 'The MFA service has no engine for live speech. You can still send a recording.'

/**
 * The transcript in an answer of the service.
 * @throws {Problem} when the service refused.
 */
function transcriptOf(answer: TranscribeAnswer) {
  if (answer.outcome === 'transcribed') return answer
  const { refusal } = answer
  const wait = 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : undefined
  throw new Problem(refusal.reason, DETAILS[refusal.reason], wait)
}
