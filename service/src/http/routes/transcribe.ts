import type { Request, RequestHandler, Response } from 'express'
import { parseTranscribe } from '../../requests/inputs.js'
import { EngineError } from '../../transcription/engines/engine-error.js'
import type { SpeechOptions } from '../../transcription/engines/transcriber.js'
import { InvalidSourceError, type RecordingSource } from '../../transcription/sources/recording-source.js'
import type { Transcription } from '../../transcription/transcription.js'
import { callingApplication } from '../authenticate.js'
import { bodyReader } from '../body.js'
import { callerGoneSignal } from '../caller-gone.js'
import { eventStream, wantsEvents } from '../event-stream.js'
import { problem, refuse } from '../problem.js'
import { requestId } from '../request-id.js'
import { progressBody, sendTranscript, transcriptText } from '../send-transcript.js'
import { fromForm } from '../upload.js'

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
        onProgress: events && ((progress) => events.send('progress', JSON.stringify(progressBody(progress)))),
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
      try {
        await transcribe(request, response, fromForm(request, transcription.fromAddress))
      } catch (error) {
        if (!(error instanceof InvalidSourceError)) throw error
        problem(response, 'invalid_request', { errors: [{ field: error.field, detail: error.message }] })
      }
    },
    ...bodyReader(),
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
