import { readFile } from 'node:fs/promises'
import * as z from 'zod'
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
  return {
    name: new URL(url).host,
    async transcribe({ path, signal }) {
      const form = new FormData()
      for (const [name, value] of Object.entries({ response_format: 'json', ...fields }))
        form.set(name, value)
      form.set('file', new Blob([await readFile(path)], { type: 'audio/wav' }), 'recording.wav')
      const response = await fetch(url, {
        method: 'POST',
        body: form,
        headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
        // A redirect must not send the key to another address.
        redirect: 'error',
        signal,
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`The transcription server responded with ${response.status}.`)
      }
      const body = responseSchema.safeParse(await response.json())
      if (!body.success) throw new Error('The response of the transcription server has no text.')
      const { text, language } = body.data
      return { text: text.trim(), ...(language && { language }) }
    },
  }
}
