import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { EngineError } from './engine-error.js'
import { readJson } from './server-response.js'
import type { Transcriber } from './transcriber.js'

/** A server with the API of OpenAI's `/v1/audio/transcriptions`. */
export interface OpenAiSettings {
  /** The full address to post to. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Form fields in addition to the file: `model`, `language`, `prompt` … */
  readonly fields: Readonly<Record<string, string>>
}

const responseSchema = z.object({ text: z.string(), language: z.string().optional() })

/** Transcribes on a server: OpenAI, vLLM, speaches, LocalAI, or whisper.cpp at `/inference`. */
export function openAiTranscriber({ url, apiKey, fields }: OpenAiSettings): Transcriber {
  async function post(form: FormData, signal: AbortSignal): Promise<Response> {
    return await fetch(url, {
      method: 'POST',
      body: form,
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      // A redirect must not send the key to another address.
      redirect: 'manual',
      signal,
    }).catch((cause: unknown) => {
      if (signal.aborted) throw cause
      throw new EngineError('engine_unavailable', 'The transcription server could not be reached.', { cause })
    })
  }

  return {
    name: new URL(url).host,
    async transcribe({ path, language: spoken, prompt, signal }) {
      const form = new FormData()
      const given = { ...(spoken && { language: languageOf(spoken) }), ...(prompt && { prompt }) }
      for (const [name, value] of Object.entries({ response_format: 'json', ...fields, ...given })) {
        form.set(name, value)
      }
      form.set('file', new Blob([await readFile(path)], { type: 'audio/wav' }), 'recording.wav')
      const body = responseSchema.safeParse(await readJson(await post(form, signal)))
      if (!body.success) {
        throw new EngineError('engine_failed', 'The response of the transcription server has no text.')
      }
      const { text, language } = body.data
      return { text: text.trim(), ...(language && { language }) }
    },
  }
}

/** These servers know languages by their ISO 639 code, without a region. */
function languageOf(tag: string): string {
  return tag.split('-')[0]?.toLowerCase() ?? tag
}
