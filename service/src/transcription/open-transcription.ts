import type { Logger } from '../log/logger.js'
import type { AllowedHost } from '../safe-fetch/public-agent.js'
import { concurrencyOf, type Engine, transcriberOf } from './engines/engine-option.js'
import { type LiveEngineChoice, liveEngineOf, streamsOf } from './live/live-option.js'
import { createLiveTranscription, type LiveTranscription } from './live/live-transcription.js'
import { createTranscription, type Transcription } from './transcription.js'

/** The options of transcription. */
export interface TranscriptionSettings {
  readonly transcriber: Engine
  readonly transcriberKey?: string | undefined
  readonly liveTranscriber: LiveEngineChoice
  readonly liveTranscriberKey?: string | undefined
  readonly transcriptionStreams?: number | undefined
  readonly transcriberConcurrency?: number | undefined
  readonly transcribeHosts: readonly AllowedHost[]
}

/** Creates the transcription that the options select, and logs a warning when the engine is not installed. */
export function openTranscription(settings: TranscriptionSettings, log: Logger): Transcription {
  const transcriber = transcriberOf(settings.transcriber, settings.transcriberKey)
  const { by } = settings.transcriber
  if (!transcriber && by !== 'auto' && by !== 'off') {
    const detail = `SERVICE_TRANSCRIBER selects ${by}, but ${by === 'pocketsphinx' ? 'it or ffmpeg' : 'ffmpeg'} is not installed.`
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  return createTranscription({
    transcriber,
    fetchOptions: { hosts: settings.transcribeHosts },
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
