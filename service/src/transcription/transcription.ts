import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { TranscribeAnswer } from 'countersign/protocol'
import type { Logger } from '../log/logger.js'
import { describe } from '../log/logger.js'
import { untilAny, withinTime } from '../time-limit.js'
import { decode } from './decode.js'
import { fairSlots } from './fair-slots.js'
import { type Fetching, fromAddress } from './sources/from-address.js'
import { busy, noSpeech, type Source, SourceFault, unavailable } from './sources/recording-source.js'
import { withTemporaryFolder } from './temporary-folder.js'
import type { Transcriber } from './engines/transcriber.js'

const ENGINE_MS = 300_000
const BUSY_SECONDS = 10

/** What transcription is made of. */
export interface TranscriptionParts {
  readonly transcriber: Transcriber | undefined
  readonly fetching: Fetching
  readonly log: Logger
  /** How many recordings are worked on at once. Defaults to the number of processor cores. */
  readonly atOnce?: number
}

/** Whose recording it is, for the log. */
export interface About {
  readonly application: string
  readonly request?: string
}

/** Turns recordings into text, a few at a time. */
export interface Transcription {
  /** A file that a caller names by its address. */
  fromAddress(address: string): Source
  /**
   * Receives, decodes and transcribes. When `gone` aborts the work ends and the promise is rejected.
   * @throws when the engine fails.
   */
  transcribe(source: Source, about: About, gone?: AbortSignal): Promise<TranscribeAnswer>
  /** Ends what is under way. */
  close(): Promise<void>
}

export function transcriptionOf({ transcriber, fetching, log, atOnce }: TranscriptionParts): Transcription {
  const slots = fairSlots(atOnce ?? availableParallelism())
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()

  return {
    fromAddress: (address) => fromAddress(address, fetching),

    async transcribe(source, about, gone) {
      const tell = teller(log, about, source.name)
      if (!transcriber) return tell.refused(unavailable)
      const giveBack = slots.take(about.application)
      if (!giveBack) return tell.refused(busy(BUSY_SECONDS))
      const ends = [closing.signal, ...(gone ? [gone] : [])]
      const work = untilAny(ends, (signal) =>
        withTemporaryFolder((folder) => transcribeIn(folder, transcriber, source, signal, tell)),
      )
      running.add(work)
      try {
        return await work
      } catch (error) {
        const isAborted = ends.some(({ aborted }) => aborted)
        tell.failed(error, isAborted)
        throw error
      } finally {
        running.delete(work)
        giveBack()
      }
    },

    async close() {
      closing.abort(new Error('The service is closing.'))
      await Promise.allSettled(running)
    },
  }
}

async function transcribeIn(
  folder: string,
  transcriber: Transcriber,
  source: Source,
  signal: AbortSignal,
  tell: ReturnType<typeof teller>,
): Promise<TranscribeAnswer> {
  signal.throwIfAborted()
  const received = await source.receive(join(folder, 'received'), signal)
  if (received.outcome === 'refused') return tell.refused(received)
  tell.step('received', { bytes: received.bytes })
  const decoded = await decode(received.path, signal)
  if (decoded.outcome === 'refused') return tell.refused(decoded)
  const { path, durationSeconds } = decoded
  tell.step('decoded', { seconds: durationSeconds })
  const { text, language } = await withinTime(ENGINE_MS, [signal], (within) =>
    transcriber.transcribe({ path, durationSeconds, signal: within }),
  )
  if (text === '') return tell.refused(noSpeech)
  tell.step('done', { seconds: durationSeconds, detail: transcriber.name })
  return { outcome: 'transcribed', text, durationSeconds, ...(language && { language }) }
}

/** Writes down how far a recording has come; never what was said in it. */
function teller(log: Logger, whose: About, file: string) {
  const about = { ...whose, file }
  return {
    step(what: 'received' | 'decoded' | 'done', more: { bytes?: number; seconds?: number; detail?: string }) {
      log({ level: 'info', event: `transcription.${what}`, ...about, ...more })
    },
    refused(answer: Extract<TranscribeAnswer, { outcome: 'refused' }>) {
      log({ level: 'info', event: 'transcription.refused', ...about, reason: answer.refusal.reason })
      return answer
    },
    failed(error: unknown, isAborted: boolean) {
      if (error instanceof SourceFault) {
        log({ level: 'info', event: 'transcription.refused', ...about, reason: 'invalid_request' })
      } else if (isAborted) log({ level: 'info', event: 'transcription.abandoned', ...about })
      else log({ level: 'error', event: 'transcription.failed', ...about, detail: describe(error) })
    },
  }
}
