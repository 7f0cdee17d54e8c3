import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import type { Transcriber } from './transcriber.js'

/** A server with the API of OpenAI's `/v1/audio/transcriptions`. */
export interface OpenAiSettings {
  /** The whole address to post to. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Form fields besides the file: `model`, `language`, `prompt` … */
  readonly fields: Readonly<Record<string, string>>
}

const answerSchema = z.object({ text: z.string(), language: z.string().optional() })

/** Has a server write it down: OpenAI, vLLM, speaches, LocalAI, or whisper.cpp at `/inference`. */
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
        // The key goes to the address that was set, and to no other.
        redirect: 'error',
        signal,
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Error(`The transcription server answered ${response.status}.`)
      }
      const answer = answerSchema.safeParse(await response.json())
      if (!answer.success) throw new Error('The transcription server answered without a text.')
      const { text, language } = answer.data
      return { text: text.trim(), ...(language && { language }) }
    },
  }
}
