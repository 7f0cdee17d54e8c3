import type { OpenAiSettings } from './engines/openai-transcriber.js'
import type { Transcriber } from './engines/transcriber.js'
import type { LiveTranscriber } from './live/live-transcription.js'

/** The engine that the option `transcriber` selects. */
export type Engine =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'command'; readonly words: readonly [string, ...string[]] }
  | ({ readonly by: 'server' } & Omit<OpenAiSettings, 'apiKey'>)
  | { readonly by: 'object'; readonly engine: Transcriber }

/** The forms of the option `transcriber`. */
export const TRANSCRIBER_FORMS =
  'auto, off, pocketsphinx, command:…, the address of a transcription server, or an object with transcribe()'

/** Reads the option `transcriber`. The result is a string if it is invalid. */
export function parseEngine(given: string | Transcriber): Engine | string {
  if (typeof given !== 'string') return { by: 'object', engine: given }
  if (given === 'auto' || given === 'off' || given === 'pocketsphinx') return { by: given }
  if (given.startsWith('command:')) return parseCommand(given.slice('command:'.length))
  if (!/^https?:/.test(given) || !URL.canParse(given)) return `transcriber must be ${TRANSCRIBER_FORMS}`
  const url = new URL(given)
  if (url.username || url.password) {
    return 'transcriber must not contain a user name or password: set the key in transcriberKey (SERVICE_TRANSCRIBER_KEY)'
  }
  const path = url.pathname === '/' ? '/v1/audio/transcriptions' : url.pathname.replace(/\/$/, '')
  // The limit of OpenAI and of vLLM.
  const defaults = { model: 'whisper-1', upload_format: 'wav', upload_megabytes: '25' }
  const parameters = { ...defaults, ...Object.fromEntries(url.searchParams) }
  const { upload_format: format, upload_megabytes: megabytes, ...fields } = parameters
  if ((format !== 'wav' && format !== 'flac') || !/^[1-9]\d{0,3}$/.test(megabytes)) {
    return 'transcriber may set upload_format to wav or flac, and upload_megabytes to a whole number from 1 to 9999'
  }
  const upload = { format, maxBytes: Number(megabytes) * 1024 * 1024 } as const
  return { by: 'server', url: `${url.origin}${path}`, fields, upload }
}

function parseCommand(text: string): Engine | string {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const [program, ...args] = words
  if (!program) {
    return 'transcriber command: must name a program, for example command:whisper-cli -nt -f {file}'
  }
  if (!args.some((arg) => arg.includes('{file}'))) {
    return 'transcriber command: must contain {file} in place of the recording, for example command:whisper-cli -nt -f {file}'
  }
  return { by: 'command', words: [program, ...args] }
}

/** The engine that the option `liveTranscriber` selects. */
export type LiveEngineChoice =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'openai'; readonly url: string; readonly model: string }
  | { readonly by: 'object'; readonly engine: LiveTranscriber }

const DEFAULT_MODEL = 'gpt-4o-transcribe'

/** The forms of the option `liveTranscriber`. */
export const LIVE_TRANSCRIBER_FORMS = 'auto, off, pocketsphinx, openai+wss://…, or an object with open()'

/** Reads the option `liveTranscriber`. The result is a string if it is invalid. */
export function parseLiveEngine(given: string | LiveTranscriber): LiveEngineChoice | string {
  if (typeof given !== 'string') return { by: 'object', engine: given }
  if (given === 'auto' || given === 'off' || given === 'pocketsphinx') return { by: given }
  const [, address = ''] = /^openai\+(wss?:\/\/.+)$/.exec(given) ?? []
  if (!URL.canParse(address)) return `liveTranscriber must be ${LIVE_TRANSCRIBER_FORMS}`
  const url = new URL(address)
  if (url.username || url.password) {
    return 'liveTranscriber must not contain a user name or password: set the key in liveTranscriberKey (SERVICE_LIVE_TRANSCRIBER_KEY)'
  }
  const model = url.searchParams.get('model') ?? DEFAULT_MODEL
  url.searchParams.delete('model')
  return { by: 'openai', url: url.href, model }
}
