import type { Request, RequestHandler, Response } from 'express'
import { parseTranscribe } from '../../requests/inputs.js'
import { EngineError } from '../../transcription/engines/engine-error.js'
import type { SpeechOptions } from '../../transcription/engines/transcriber.js'
import { InvalidSourceError, type RecordingSource } from '../../transcription/sources/recording-source.js'
import type { Transcription } from '../../transcription/transcription.js'
import { callingApplication } from '../authenticate.js'
import { readBody } from '../body.js'
import { problem, refuse } from '../problem.js'
import { requestId } from '../request-id.js'
import { sendTranscript } from '../send-transcript.js'
import { fromForm } from '../upload.js'

/**
 * `POST /v1/transcribe`: a file by its address, as JSON or a form, or an uploaded file. A caller's text is never used as
 * a path on this machine.
 */
export function transcribeRoute(transcription: Transcription): readonly RequestHandler[] {
  async function transcribe(
    request: Request,
    response: Response,
    source: RecordingSource,
    speech: SpeechOptions = {},
  ): Promise<void> {
    try {
      const result = await transcription.recognize(source, logFields(request), {
        ...speech,
        callerGone: callerGoneSignal(response),
      })
      if (result.outcome === 'refused') refuse(response, result.refusal)
      else sendTranscript(response, result)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      problem(response, error.code, { retryAfterSeconds: error.retryAfterSeconds })
    }
  }

  return [
    async function transcribeUpload(request, response, next) {
      if (!request.is('multipart/form-data')) return next()
      try {
        await transcribe(request, response, fromForm(request, transcription.fromAddress))
      } catch (error) {
        if (!(error instanceof InvalidSourceError)) throw error
        problem(response, 'invalid_request', { errors: [{ field: error.field, detail: error.message }] })
      }
    },
    ...readBody,
    async function transcribeAddress(request, response) {
      const parsed = parseTranscribe(request.body)
      if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
      const { file, ...speech } = parsed.value
      await transcribe(request, response, transcription.fromAddress(file), speech)
    },
  ]
}

function logFields(request: Request) {
  return { application: callingApplication(request).id, request: requestId(request) }
}

/** Aborts when the caller closes the connection before the response is sent. */
function callerGoneSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The caller closed the connection.')))
  return gone.signal
}
