import type { TranscribeAnswer, TranscriptionRefusal } from 'countersign'
import { type Request, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { aroundOf } from '../http/around.js'
import { readBody } from '../http/body.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { ownScripts } from '../http/security-headers.js'
import { customer, signedIn } from '../http/signed-in.js'
import { withUpload } from '../http/upload.js'
import { transcribePage } from '../views/transcribe-page.js'

// countersign takes anything that is no address for a path of this machine: what a person types must be one.
const addressed = z.object({
  file: z
    .string({ error: 'must be the address of a recording' })
    .regex(/^https?:\/\/[^\s/]\S*$/i, { error: 'must be an address that begins with https://' })
    .max(2_048),
})

const DETAILS: Readonly<Record<TranscriptionRefusal['reason'], string>> = {
  transcription_unavailable: 'The service behind Vault has nothing to transcribe with.',
  busy: 'Others are being listened to. Try again in a moment.',
  address_refused: 'Give a public https address at which the file itself lies, or choose a file.',
  fetch_failed: 'Check that it opens without signing in, or choose a file.',
  file_too_large: 'At most 25 MB are taken.',
  recording_too_long: 'At most 10 minutes are taken.',
  unsupported_media: 'Sound and video files are understood, like MP3, M4A, Ogg, WAV, MP4 and WebM.',
  no_speech: 'Is somebody speaking in it, in English?',
}

/** `GET /transcribe`, `POST /transcribe` */
export function transcribeRoutes(context: VaultContext): Router {
  const { speech } = context
  const router = Router()

  const listen = (req: Request): Promise<TranscribeAnswer> => {
    if (!req.is('multipart/form-data')) return speech.transcribe(readBody(req, addressed))
    return withUpload(req, async ({ path, address }) => {
      if (path !== undefined) return speech.transcribe({ file: path })
      const { success, data } = addressed.safeParse({ file: address })
      if (!success) throw new Problem('invalid_request', 'Choose a file, or give an https address.')
      return speech.transcribe(data)
    })
  }

  router.get('/transcribe', signedIn, ownScripts, (req, res) => {
    res.send(transcribePage({ user: customer(req), around: aroundOf(req, context) }))
  })

  router.post('/transcribe', signedIn, ownScripts, async (req, res) => {
    const shared = { user: customer(req), around: aroundOf(req, context) }
    try {
      const { text, durationSeconds } = heard(await listen(req))
      if (wantsJson(req)) res.json({ text, durationSeconds })
      else res.send(transcribePage({ ...shared, transcript: { text, durationSeconds } }))
    } catch (error) {
      if (!(error instanceof Problem) || wantsJson(req)) throw error
      const notice = { tone: 'error', text: `${error.title}. ${error.detail}` } as const
      res.status(error.status).send(transcribePage({ ...shared, notice }))
    }
  })

  return router
}

/** @throws {Problem} for whatever the service refused. */
function heard(answer: TranscribeAnswer) {
  if (answer.outcome === 'transcribed') return answer
  const { refusal } = answer
  const wait = 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : undefined
  throw new Problem(refusal.reason, DETAILS[refusal.reason], wait)
}
