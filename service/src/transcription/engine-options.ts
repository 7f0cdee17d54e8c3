import { resolve } from 'node:path'

/** The engine that the option `transcriber` selects. */
export type Engine =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'sherpa-onnx'; readonly folder: string }
  | { readonly by: 'command'; readonly words: readonly [string, ...string[]] }
  | {
      readonly by: 'server'
      readonly api: ServerApi
      readonly url: string
      readonly fields: Readonly<Record<string, string>>
    }

/** The API that a transcription server speaks. */
export type ServerApi = 'openai' | 'deepgram' | 'assemblyai'

/** What an address needs besides its host, unless it says otherwise. */
const SERVER_DEFAULTS: Readonly<
  Record<ServerApi, { readonly path: string; readonly fields: Readonly<Record<string, string>> }>
> = {
  openai: { path: '/v1/audio/transcriptions', fields: { model: 'whisper-1' } },
  deepgram: { path: '/v1/listen', fields: { model: 'nova-3', smart_format: 'true' } },
  assemblyai: { path: '/v2', fields: {} },
}

const SERVER_APIS = Object.keys(SERVER_DEFAULTS) as ServerApi[]

const ENGINES =
  'auto, off, pocketsphinx, sherpa-onnx:<folder>, command:… or the address of a transcription server'

/** Parses `auto`, `off`, `pocketsphinx`, `command:…` or an address, which `deepgram+` or `assemblyai+` may precede. The result is a string if the option is invalid. */
export function parseEngine(text: string): Engine | string {
  if (text === 'auto' || text === 'off' || text === 'pocketsphinx') return { by: text }
  const [, folder] = /^sherpa-onnx:(.+)$/.exec(text) ?? []
  if (folder) return { by: 'sherpa-onnx', folder: resolve(folder) }
  if (text.startsWith('command:')) return parseCommand(text.slice('command:'.length))
  const [, named, address = ''] = /^(?:(deepgram|assemblyai)\+)?(https?:\/\/.*)$/.exec(text) ?? []
  if (!URL.canParse(address)) return `transcriber must be ${ENGINES}`
  const api = SERVER_APIS.find((each) => each === named) ?? 'openai'
  const url = new URL(address)
  if (url.username || url.password) {
    return 'transcriber must not contain a user name or password: set the key in transcriberKey (SERVICE_TRANSCRIBER_KEY)'
  }
  const usual = SERVER_DEFAULTS[api]
  const path = url.pathname === '/' ? usual.path : url.pathname.replace(/\/$/, '')
  const fields = { ...usual.fields, ...Object.fromEntries(url.searchParams) }
  return { by: 'server', api, url: `${url.origin}${path}`, fields }
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
  | { readonly by: 'vosk'; readonly url: string }
  | { readonly by: 'openai'; readonly url: string; readonly model: string }

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
