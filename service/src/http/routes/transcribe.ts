import type { TranscribeAnswer } from 'countersign/protocol'
import type { Request, RequestHandler, Response } from 'express'
import { type Source, SourceFault } from '../../transcription/sources/recording-source.js'
import type { Transcription } from '../../transcription/transcription.js'
import { readTranscribe } from '../../requests/inputs.js'
import { readBody } from '../body.js'
import { callingApplication } from '../flow-route.js'
import { fromForm } from '../upload.js'
import { problem, refuse } from '../problem.js'
import { requestId } from '../request-id.js'

/**
 * `POST /v1/transcribe`: a file by its address, as JSON or a form, or an uploaded file. What a caller writes is never
 * taken for a path of this machine.
 */
export function transcribeRoute(transcription: Transcription): readonly RequestHandler[] {
  const answer = (request: Request, response: Response, source: Source) =>
    transcription
      .transcribe(source, about(request), goneSignal(response))
      .then((result) => say(response, result))

  return [
    async function transcribeUpload(request, response, next) {
      if (!request.is('multipart/form-data')) return next()
      try {
        await answer(request, response, fromForm(request, transcription.fromAddress))
      } catch (error) {
        if (!(error instanceof SourceFault)) throw error
        problem(response, 'invalid_request', { errors: [{ field: 'file', detail: error.message }] })
      }
    },
    ...readBody,
    async function transcribeAddress(request, response) {
      const reading = readTranscribe(request.body)
      if (!reading.ok) return problem(response, 'invalid_request', { errors: reading.faults })
      await answer(request, response, transcription.fromAddress(reading.value.file))
    },
  ]
}

function about(request: Request) {
  return { application: callingApplication(request).id, request: requestId(request) }
}

/** Aborts when the caller hangs up before the answer. */
function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The caller hung up.')))
  return gone.signal
}

function say(response: Response, answer: TranscribeAnswer): void {
  if (answer.outcome === 'refused') return refuse(response, answer.refusal)
  const { text, durationSeconds, language } = answer
  response.json({ text, duration: durationSeconds, ...(language && { language }) })
}
