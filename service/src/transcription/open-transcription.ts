import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import type { AllowedHost } from '../safe-fetch/public-agent.js'
import type { Logger } from '../telemetry/log/logger.js'
import { isInstalled, runProgram } from './decode.js'
import type { Engine, LiveEngineChoice } from './engine-options.js'
import { openAiTranscriber } from './engines/openai-transcriber.js'
import { hasPocketsphinx, pocketsphinx } from './engines/pocketsphinx.js'
import type { Transcriber } from './engines/transcriber.js'
import {
  createLiveTranscription,
  type LiveTranscriber,
  type LiveTranscription,
} from './live/live-transcription.js'
import { openAiRealtime } from './live/openai-realtime.js'
import { hasLivePocketsphinx, livePocketsphinx } from './live/pocketsphinx-live.js'
import { transcriptionLimits } from './recording-limits.js'
import { createTranscription, type Transcription } from './transcription.js'

/** A server has its own queue and its own cores, so it may be sent more recordings than this machine has cores. */
const SERVER_CONCURRENCY = 16

/** The selected engine; `undefined` when there is none, or when ffmpeg is not installed. */
export function createTranscriber(engine: Engine, apiKey: string | undefined): Transcriber | undefined {
  if (!isInstalled('ffmpeg')) return undefined
  if (engine.by === 'server') return openAiTranscriber({ ...engine, apiKey })
  if (engine.by === 'object') return engine.engine
  if (engine.by === 'command') return commandTranscriber(engine.words)
  return engine.by !== 'off' && hasPocketsphinx() ? pocketsphinx() : undefined
}

/** The advice for an engine that is good enough to try transcription out; `undefined` for every other one. */
export function demonstrationAdvice(engine: Engine): string | undefined {
  if (createTranscriber(engine, undefined)?.name !== 'pocketsphinx') return undefined
  return 'pocketsphinx is a demonstration: it understands about two words in three, and English only. Set SERVICE_TRANSCRIBER to a transcription server, or to the command of another engine.'
}

/** How many recordings an engine transcribes at once unless the operator says otherwise. */
export function getConcurrency({ by }: Engine): number {
  return by === 'server' ? SERVER_CONCURRENCY : availableParallelism()
}

/** Runs a local program that transcribes the WAV file (16 kHz, mono) at `{file}` in its arguments and prints the text without times. */
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

/** A server has its own queue and its own cores. */
const SERVER_STREAMS = 64

/** The selected engine; `undefined` when there is none, or when it is not installed. */
export function createLiveEngine(
  choice: LiveEngineChoice,
  apiKey: string | undefined,
): LiveTranscriber | undefined {
  if (choice.by === 'openai') return openAiRealtime({ ...choice, apiKey })
  if (choice.by === 'object') return choice.engine
  return choice.by !== 'off' && hasLivePocketsphinx() ? livePocketsphinx() : undefined
}

/** How many streams an engine transcribes at once unless the operator says otherwise. */
export function countStreams({ by }: LiveEngineChoice): number {
  return by === 'openai' ? SERVER_STREAMS : 2 * availableParallelism()
}

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
  const transcriber = createTranscriber(settings.transcriber, settings.transcriberKey)
  const { by } = settings.transcriber
  if (!transcriber && by !== 'auto' && by !== 'off') {
    const detail = `SERVICE_TRANSCRIBER selects ${by}, but ${by === 'pocketsphinx' ? 'it or ffmpeg' : 'ffmpeg'} is not installed.`
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  return createTranscription({
    transcriber,
    fetchOptions: { hosts: settings.transcribeHosts },
    limits: transcriptionLimits(settings),
    languages: settings.transcriberLanguages,
    log,
    maxConcurrent: settings.transcriberConcurrency ?? getConcurrency(settings.transcriber),
  })
}

/** Creates the realtime transcription that the options select, and logs a warning when the engine is not installed. */
export function openLiveTranscription(settings: TranscriptionSettings, log: Logger): LiveTranscription {
  const engine = createLiveEngine(settings.liveTranscriber, settings.liveTranscriberKey)
  if (!engine && settings.liveTranscriber.by === 'pocketsphinx') {
    const detail =
      'SERVICE_LIVE_TRANSCRIBER selects pocketsphinx, but python3-pocketsphinx or pocketsphinx-en-us is not installed.'
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  const maxStreams = settings.transcriptionStreams ?? countStreams(settings.liveTranscriber)
  return createLiveTranscription({ engine, maxStreams, log })
}
