import type { Transcribed, TranscribeRequest, TranscriptionRefusal } from './transcription.js'

/** The states of a job. */
export const JOB_STATES = ['queued', 'running', 'done', 'failed'] as const

/** Requests a transcript without waiting for it. */
export type TranscriptionJobRequest = Omit<TranscribeRequest, 'onProgress' | 'signal'>

/** A recording that the service transcribes without a caller who waits. */
export interface TranscriptionJob {
  /** Names the job in later calls. */
  readonly id: string
  /** `queued`: it waits for its turn. `running`: it is being transcribed. `done` and `failed`: it has ended. */
  readonly state: (typeof JOB_STATES)[number]
  /** In milliseconds since 1970. */
  readonly createdAt: number
  /** When the service deletes the job and its transcript, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Of a job that is `done`. */
  readonly transcript?: Transcribed
  /** Why a job `failed`: a `reason` of `TranscriptionRefusal`, or the code of another problem of the service, such as `engine_failed`. */
  readonly failure?: string
}

/** The response to a `TranscriptionJobRequest`. */
export type CreatedTranscriptionJob =
  | { readonly outcome: 'created'; readonly job: TranscriptionJob }
  | {
      readonly outcome: 'refused'
      readonly refusal:
        | TranscriptionRefusal
        /** The application has too many jobs, or their recordings are too large in all. */
        | { readonly reason: 'too_many_jobs'; readonly retryAfterSeconds: number }
    }

/** The methods of a service that transcribes recordings as jobs. */
export interface TranscriptionJobVerbs {
  /**
   * Has a recording transcribed without waiting for it. The job survives a restart of the service. A recording at an address is
   * fetched when its turn comes.
   */
  createTranscriptionJob?(request: TranscriptionJobRequest): Promise<CreatedTranscriptionJob>
  /** A job of this application; `undefined` if there is none with this id, or if it has expired. */
  transcriptionJob?(id: string): Promise<TranscriptionJob | undefined>
  /** Cancels a job, or deletes its transcript. Whether there was one. */
  deleteTranscriptionJob?(id: string): Promise<boolean>
}
