import { join } from 'node:path'
import type { TranscribeAnswer, TranscriptionProgress, TranscriptSegment } from 'countersign/speech'
import type { AddressRules } from '../safe-fetch/public-agent.js'
import { describeError, type Logger } from '../telemetry/log/logger.js'
import { joinSignals, limitTime } from '../time.js'
import { decode, useTemporaryFolder } from './decode.js'
import {
  ensureEngineError,
  knows,
  LanguageError,
  type Recording,
  type SpeechOptions,
  type Transcriber,
} from './engines/transcriber.js'
import { fairSlots } from './fair-slots.js'
import { answerOf, needsTimes, type Recognized, showsTimes } from './recognized.js'
import { DEFAULT_LIMITS, type RecordingLimits, type TranscriptionLimits } from './recording-limits.js'
import { createAddressSource } from './sources/from-address.js'
import {
  busy,
  InvalidSourceError,
  type RecordingRefused,
  type RecordingSource,
  refuseRecording,
} from './sources/recording-source.js'

const RETRY_AFTER_SECONDS = 10

/** The parts of the transcription. */
export interface TranscriptionParts {
  readonly transcriber: Transcriber | undefined
  readonly fetchOptions: AddressRules
  readonly log: Logger
  readonly maxConcurrent: number
  /** The limits of recordings. Defaults to the defaults of the options. */
  readonly limits?: TranscriptionLimits
  /** The languages that the operator says the engine has. Defaults to those that the engine names itself. */
  readonly languages?: readonly string[] | undefined
}

/** The origin of a recording, for the log. */
export interface Origin {
  readonly application: string
  readonly request?: string
}

interface TranscribeOptions extends SpeechOptions {
  readonly callerGone?: AbortSignal | undefined
  /** The limits of the recording. Defaults to the limits of callers who wait. */
  readonly limits?: RecordingLimits | undefined
  /** Called once the recording has arrived, and then whenever the engine says how far it has come. */
  readonly onProgress?: ((progress: TranscriptionProgress) => void) | undefined
}

/** Turns recordings into text, a limited number at a time. */
export type Transcription = ReturnType<typeof createTranscription>

/** Creates the transcription from its parts. */
export function createTranscription(parts: TranscriptionParts) {
  const { fetchOptions, log, maxConcurrent, limits = DEFAULT_LIMITS } = parts
  const { transcriber: engine, languages } = parts
  const transcriber = engine && languages ? { ...engine, languages } : engine
  const slots = fairSlots(maxConcurrent)
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()

  /** Receives and transcribes a recording; silence gives no text. Rejects when `callerGone` aborts, or with an `EngineError` of the engine. */
  async function recognizeFrom(
    source: RecordingSource,
    origin: Origin,
    more: TranscribeOptions = {},
  ): Promise<Recognized | RecordingRefused> {
    const { callerGone, onProgress = () => {}, limits: allowed = limits.waiting, ...speech } = more
    const progress = progressLog(log, origin, source.name)
    if (!transcriber) return progress.refused(refuseRecording('transcription_unavailable'))
    const freeSlot = slots.take(origin.application)
    if (!freeSlot) return progress.refused(busy(RETRY_AFTER_SECONDS))
    const signals = [closing.signal, ...(callerGone ? [callerGone] : [])]
    const work = joinSignals(signals, (signal, abort) => {
      const report = (step: TranscriptionProgress) => {
        try {
          onProgress(step)
        } catch (error) {
          abort(error)
        }
      }
      return useTemporaryFolder((folder) =>
        transcribeIn(folder, { transcriber, source, speech, limits: allowed, signal, progress, report }),
      )
    })
    running.add(work)
    try {
      return await work
    } catch (error) {
      const isAborted = signals.some(({ aborted }) => aborted)
      progress.failed(error, isAborted)
      throw error
    } finally {
      running.delete(work)
      freeSlot()
    }
  }

  return {
    /** The name of the engine, or `none`. */
    engine: transcriber?.name ?? 'none',
    isAvailable: transcriber !== undefined,
    maxConcurrent,
    limits,

    /** A file that a caller names by its address. */
    fromAddress: (address: string) => createAddressSource(address, fetchOptions),

    recognize: recognizeFrom,

    /** The same, as the answer for callers in this process. */
    async transcribe(...call: Parameters<typeof recognizeFrom>): Promise<TranscribeAnswer> {
      return answerOf(await recognizeFrom(...call))
    },

    /** Stops all transcriptions in progress. */
    async close(): Promise<void> {
      closing.abort(new Error('The service is closing.'))
      await Promise.allSettled(running)
    },
  }
}

async function transcribeIn(
  folder: string,
  parts: {
    readonly transcriber: Transcriber
    readonly source: RecordingSource
    readonly speech: SpeechOptions
    readonly limits: RecordingLimits
    readonly signal: AbortSignal
    readonly progress: ReturnType<typeof progressLog>
    readonly report: (step: TranscriptionProgress) => void
  },
): Promise<Recognized | RecordingRefused> {
  const { transcriber, source, limits, signal, progress, report } = parts
  signal.throwIfAborted()
  const received = await source.receive(join(folder, 'received'), signal, limits)
  if (received.outcome === 'refused') return progress.refused(received)
  progress.step('received', { bytes: received.bytes })
  const { format = 'json', ...speech } = { ...parts.speech, ...received.speech }
  const withoutTimes = refuseRecording('timestamps_unavailable')
  const withoutLanguage = refuseRecording('language_unavailable')
  if (needsTimes(format) && !transcriber.givesTimes) return progress.refused(withoutTimes)
  if (!knows(transcriber, speech.language)) return progress.refused(withoutLanguage)
  report({ state: 'decoding' })
  const decoded = await decode(received.path, limits.maxSeconds, signal)
  if (decoded.outcome === 'refused') return progress.refused(decoded)
  const { path, durationSeconds } = decoded
  progress.step('decoded', { seconds: durationSeconds })
  const withTimes = showsTimes(format)
  report({ state: 'transcribing', seconds: 0, durationSeconds })
  const onSegment = ({ text, endSeconds }: TranscriptSegment) => {
    const seconds = Math.min(endSeconds, durationSeconds)
    report({ state: 'transcribing', seconds, durationSeconds, text })
  }
  const recording = { ...speech, path, durationSeconds, withTimes, onSegment, signal }
  const transcript = await recognize(transcriber, recording, limits.engineMs(durationSeconds))
  if (transcript === 'language_unavailable') return progress.refused(withoutLanguage)
  // Silence needs no times.
  if (needsTimes(format) && transcript.text !== '' && !transcript.segments)
    return progress.refused(withoutTimes)
  progress.step('done', { seconds: durationSeconds, detail: transcriber.name })
  return { outcome: 'recognized', format, durationSeconds, transcript }
}

/** Runs the engine on a decoded recording. Throws an `EngineError` unless the recording's signal aborts. */
async function recognize(transcriber: Transcriber, recording: Recording, limitMs: number) {
  const { signal } = recording
  try {
    return await limitTime(limitMs, [signal], (within) =>
      transcriber.transcribe({ ...recording, signal: within }),
    )
  } catch (error) {
    if (error instanceof LanguageError) return 'language_unavailable'
    throw signal.aborted ? error : ensureEngineError(transcriber.name, error)
  }
}

/** Logs the progress of a recording, but never its content. */
function progressLog(log: Logger, origin: Origin, file: string) {
  const fields = { ...origin, file }
  return {
    step(step: 'received' | 'decoded' | 'done', more: { bytes?: number; seconds?: number; detail?: string }) {
      log({ level: 'info', event: `transcription.${step}`, ...fields, ...more })
    },
    refused(answer: RecordingRefused) {
      log({ level: 'info', event: 'transcription.refused', ...fields, reason: answer.refusal.reason })
      return answer
    },
    failed(error: unknown, isAborted: boolean) {
      if (error instanceof InvalidSourceError) {
        log({ level: 'info', event: 'transcription.refused', ...fields, reason: 'invalid_request' })
      } else if (isAborted) log({ level: 'info', event: 'transcription.abandoned', ...fields })
      else log({ level: 'error', event: 'transcription.failed', ...fields, detail: describeError(error) })
    },
  }
}
