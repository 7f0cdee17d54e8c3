import { availableParallelism } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Logger } from '../log/logger.js'
import type { AllowedHost } from '../safe-fetch/public-agent.js'
import { isInstalled, runProgram } from './decode.js'
import { assemblyAi } from './engines/assemblyai.js'
import { deepgram } from './engines/deepgram.js'
import { type OpenAiSettings, openAiTranscriber } from './engines/openai-transcriber.js'
import { hasPocketsphinx, pocketsphinx } from './engines/pocketsphinx.js'
import { hasSherpaOnnx, sherpaOnnx } from './engines/sherpa-onnx.js'
import type { Transcriber } from './engines/transcriber.js'
import {
  createLiveTranscription,
  type LiveEngine,
  type LiveTranscription,
} from './live/live-transcription.js'
import { openAiRealtime } from './live/openai-realtime.js'
import { hasLivePocketsphinx, livePocketsphinx } from './live/pocketsphinx-live.js'
import { vosk } from './live/vosk.js'
import { transcriptionLimits } from './recording-limits.js'
import { createTranscription, type Transcription } from './transcription.js'

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
type ServerApi = 'openai' | 'deepgram' | 'assemblyai'

/** A server has its own queue and its own cores, so it may be sent more recordings than this machine has cores. */
const SERVER_CONCURRENCY = 16

/** What an address needs besides its host, unless it says otherwise. */
const SERVER_DEFAULTS: Readonly<
  Record<ServerApi, { readonly path: string; readonly fields: Readonly<Record<string, string>> }>
> = {
  openai: { path: '/v1/audio/transcriptions', fields: { model: 'whisper-1' } },
  deepgram: { path: '/v1/listen', fields: { model: 'nova-3', smart_format: 'true' } },
  assemblyai: { path: '/v2', fields: {} },
}

const SERVER_APIS = Object.keys(SERVER_DEFAULTS) as ServerApi[]

const SERVERS = { openai: openAiTranscriber, deepgram, assemblyai: assemblyAi } satisfies Record<
  ServerApi,
  (settings: OpenAiSettings) => Transcriber
>

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

/** The selected engine; `undefined` when there is none, or when ffmpeg is not installed. */
export function transcriberOf(engine: Engine, apiKey: OpenAiSettings['apiKey']): Transcriber | undefined {
  if (!isInstalled('ffmpeg')) return undefined
  switch (engine.by) {
    case 'off':
      return undefined
    case 'server':
      return SERVERS[engine.api]({ url: engine.url, fields: engine.fields, apiKey })
    case 'sherpa-onnx':
      return hasSherpaOnnx(engine.folder) ? sherpaOnnx(engine.folder) : undefined
    case 'command':
      return commandTranscriber(engine.words)
    default:
      return hasPocketsphinx() ? pocketsphinx() : undefined
  }
}

/** The advice for an engine that is good enough to try transcription out; `undefined` for every other one. */
export function demonstrationAdvice(engine: Engine): string | undefined {
  if (transcriberOf(engine, undefined)?.name !== 'pocketsphinx') return undefined
  return 'pocketsphinx is a demonstration: it understands about two words in three, and English only. Install an engine with deploy/install-sherpa-onnx.sh, or set SERVICE_TRANSCRIBER to a transcription server.'
}

/** How many recordings an engine transcribes at once unless the operator says otherwise. */
export function concurrencyOf({ by }: Engine): number {
  return by === 'server' ? SERVER_CONCURRENCY : availableParallelism()
}

/**
 * Runs a local program that transcribes a file and prints the text, without times. `{file}` in its arguments stands for the path
 * of a WAV file, 16 kHz, mono.
 */
export function commandTranscriber([program, ...args]: readonly [string, ...string[]]): Transcriber {
  return {
    name: 'command',
    givesTimes: false,
    async transcribe({ path, signal }) {
      const filled = args.map((arg) => arg.replaceAll('{file}', path))
      const { status, output, errorOutput } = await runProgram([program, ...filled], {
        folder: dirname(path),
        signal,
      })
      if (status !== 0) throw new Error(`command exited with status ${status ?? 'none'}: ${errorOutput}`)
      return { text: output.split(/\s+/).filter(Boolean).join(' ') }
    },
  }
}

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

/** The options of transcription. */
type TranscriptionSettings = Parameters<typeof transcriptionLimits>[0] & {
  readonly transcriber: Engine
  readonly transcriberKey?: string | undefined
  readonly liveTranscriber: LiveEngineChoice
  readonly liveTranscriberKey?: string | undefined
  readonly transcriptionStreams?: number | undefined
  readonly transcriberConcurrency?: number | undefined
  readonly transcriberLanguages?: readonly string[] | undefined
  readonly transcribeHosts: readonly AllowedHost[]
}

/** Creates the transcription that the options select, and logs a warning when the engine is not installed. */
export function openTranscription(settings: TranscriptionSettings, log: Logger): Transcription {
  const transcriber = transcriberOf(settings.transcriber, settings.transcriberKey)
  const { by } = settings.transcriber
  if (!transcriber && by !== 'auto' && by !== 'off') {
    const detail = `SERVICE_TRANSCRIBER selects ${by}, but ${by === 'pocketsphinx' || by === 'sherpa-onnx' ? 'it or ffmpeg' : 'ffmpeg'} is not installed.`
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  return createTranscription({
    transcriber,
    fetchOptions: { hosts: settings.transcribeHosts },
    limits: transcriptionLimits(settings),
    languages: settings.transcriberLanguages,
    log,
    maxConcurrent: settings.transcriberConcurrency ?? concurrencyOf(settings.transcriber),
  })
}

/** Creates the realtime transcription that the options select, and logs a warning when the engine is not installed. */
export function openLiveTranscription(settings: TranscriptionSettings, log: Logger): LiveTranscription {
  const engine = liveEngineOf(settings.liveTranscriber, settings.liveTranscriberKey)
  if (!engine && settings.liveTranscriber.by === 'pocketsphinx') {
    const detail =
      'SERVICE_LIVE_TRANSCRIBER selects pocketsphinx, but python3-pocketsphinx or pocketsphinx-en-us is not installed.'
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  const maxStreams = settings.transcriptionStreams ?? streamsOf(settings.liveTranscriber)
  return createLiveTranscription({ engine, maxStreams, log })
}
