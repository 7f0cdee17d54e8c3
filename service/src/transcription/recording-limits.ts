import * as z from 'zod'
import { processRules } from '../accounts/limits.js'

const BYTES_PER_MEGABYTE = 1024 * 1024
const MIN_TIMEOUT_MS = 60_000
/** ffmpeg decodes recordings more than a hundred times as fast as they were spoken. */
const MIN_SPEED = 20

/** The limits of a recording. */
export interface RecordingLimits {
  readonly maxBytes: number
  readonly maxSeconds: number
  /** How long it may take to arrive. */
  readonly arrivalMs: number
  /** How long an engine may take for a recording of this length. */
  engineMs(durationSeconds: number): number
}

/** The limits of recordings for which a caller waits, and of jobs. */
export interface TranscriptionLimits {
  readonly waiting: RecordingLimits
  readonly jobs: RecordingLimits
  /** The size of all recordings of an application that are stored for its jobs. */
  readonly jobStorageBytes: number
}

const settingsSchema = z.object(processRules)

/** The limits that the options set; durations are in milliseconds. */
export function transcriptionLimits(
  settings: Pick<
    z.output<typeof settingsSchema>,
    | 'transcriberTimeout'
    | 'recordingLength'
    | 'recordingMegabytes'
    | 'recordingTimeout'
    | 'jobRecordingLength'
    | 'jobRecordingMegabytes'
    | 'jobRecordingTimeout'
    | 'jobStorageMegabytes'
  >,
): TranscriptionLimits {
  const { transcriberTimeout } = settings
  return {
    waiting: {
      maxBytes: settings.recordingMegabytes * BYTES_PER_MEGABYTE,
      maxSeconds: settings.recordingLength / 1_000,
      arrivalMs: settings.recordingTimeout,
      engineMs: () => transcriberTimeout,
    },
    jobs: {
      maxBytes: settings.jobRecordingMegabytes * BYTES_PER_MEGABYTE,
      maxSeconds: settings.jobRecordingLength / 1_000,
      arrivalMs: settings.jobRecordingTimeout,
      engineMs: (durationSeconds) => Math.max(transcriberTimeout, durationSeconds * 1_000),
    },
    jobStorageBytes: settings.jobStorageMegabytes * BYTES_PER_MEGABYTE,
  }
}

/** The limits without any option. */
export const DEFAULT_LIMITS = transcriptionLimits(settingsSchema.parse({}))

/** How long decoding a recording of up to `maxSeconds` may take, in milliseconds. */
export function decodingTimeoutMs(maxSeconds: number): number {
  return MIN_TIMEOUT_MS + (maxSeconds / MIN_SPEED) * 1_000
}
