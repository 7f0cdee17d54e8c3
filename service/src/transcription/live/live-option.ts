import { availableParallelism } from 'node:os'
import type { LiveEngine } from './live-transcription.js'
import { openAiRealtime } from './openai-realtime.js'
import { hasLivePocketsphinx, livePocketsphinx } from './pocketsphinx-live.js'
import { vosk } from './vosk.js'

/** The engine that the option `liveTranscriber` selects. */
export type LiveEngineChoice =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'vosk'; readonly url: string }
  | { readonly by: 'openai'; readonly url: string; readonly model: string }

/** A server has its own queue and its own cores. */
const SERVER_STREAMS = 64

const DEFAULT_MODEL = 'gpt-4o-transcribe'

/** Parses `auto`, `off`, `pocketsphinx`, `vosk+ws://…` or `openai+wss://…`. The result is a string if the option is invalid. */
export function parseLiveEngine(text: string): LiveEngineChoice | string {
  if (text === 'auto' || text === 'off' || text === 'pocketsphinx') return { by: text }
  const [, by, address = ''] = /^(vosk|openai)\+(wss?:\/\/.+)$/.exec(text) ?? []
  if (!by || !URL.canParse(address)) {
    return 'liveTranscriber must be auto, off, pocketsphinx, vosk+ws://… or openai+wss://…'
  }
  const url = new URL(address)
  if (url.username || url.password) {
    return 'liveTranscriber must not contain a user name or password: set the key in liveTranscriberKey (SERVICE_LIVE_TRANSCRIBER_KEY)'
  }
  if (by === 'vosk') return { by, url: url.href }
  const model = url.searchParams.get('model') ?? DEFAULT_MODEL
  url.searchParams.delete('model')
  return { by: 'openai', url: url.href, model }
}

/** The selected engine; `undefined` when there is none, or when it is not installed. */
export function liveEngineOf(choice: LiveEngineChoice, apiKey: string | undefined): LiveEngine | undefined {
  switch (choice.by) {
    case 'off':
      return undefined
    case 'vosk':
      return vosk(choice)
    case 'openai':
      return openAiRealtime({ ...choice, apiKey })
    default:
      return hasLivePocketsphinx() ? livePocketsphinx() : undefined
  }
}

/** How many streams an engine transcribes at once unless the operator says otherwise. */
export function streamsOf({ by }: LiveEngineChoice): number {
  return by === 'vosk' || by === 'openai' ? SERVER_STREAMS : 2 * availableParallelism()
}
