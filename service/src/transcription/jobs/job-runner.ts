import { randomUUID } from 'node:crypto'
import { TRANSCRIPT_FORMATS } from 'countersign/speech'
import * as z from 'zod'
import { encrypt } from '../../store/secrets/encrypt.js'
import type { Keys } from '../../store/secrets/keys.js'
import { jobIdentity, open, seal } from '../../store/secrets/seal.js'
import type { Store } from '../../store/store.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { EngineError } from '../engines/transcriber.js'
import type { Transcription } from '../transcription.js'
import { storedRecording } from './job-recording.js'
import { type ClaimedJob, claimJob, finishJob, renewLease, requeueJob } from './job-table.js'

const POLL_MS = 10_000
/** How long a process that says nothing counts as alive. */
const LEASE_MS = 30_000
const RENEW_MS = 10_000
/** A job whose process died is begun once more. */
const MAX_RUNS = 2
/** How often a job is put back because its engine is unavailable. */
const MAX_RETRIES = 5
const RESULT_KEPT_MS = 24 * 60 * 60_000

/** The name under which the result of a job is encrypted. */
export const RESULT = 'result'

/** The parts of the runner. */
export interface JobRunnerParts {
  readonly store: Store
  readonly keys: Keys
  readonly transcription: Transcription
  readonly log: Logger
  /** The maximum number of jobs that run at once in this process. Defaults to half of the recordings that the engine may transcribe at once. */
  readonly maxConcurrent?: number
}

class JobLostError extends Error {}

/** Runs the jobs of all applications. */
export function jobRunner({ store, keys, transcription, log, ...parts }: JobRunnerParts) {
  // The others are for callers who wait.
  const maxConcurrent = parts.maxConcurrent ?? Math.max(1, Math.floor(transcription.maxConcurrent / 2))
  const holder = randomUUID()
  const running = new Map<string, AbortController>()
  const ends = new Set<Promise<void>>()
  let isClosed = false
  let isFailing = false
  let isStale = false
  let polling: Promise<void> | undefined

  function wake(): void {
    if (isClosed || !transcription.isAvailable) return
    // A poll that is under way may have looked before the job was there.
    isStale = polling !== undefined
    polling ??= poll().finally(() => {
      polling = undefined
      if (isStale) wake()
    })
  }

  async function poll(): Promise<void> {
    try {
      while (!isClosed && running.size < maxConcurrent) {
        const job = await claimJob(store, holder, LEASE_MS)
        isFailing = false
        if (!job) return
        const end = run(job).finally(() => {
          running.delete(job.id)
          ends.delete(end)
          wake()
        })
        ends.add(end)
      }
    } catch (error) {
      if (!isFailing)
        log({ level: 'warn', event: 'transcription.jobs_stalled', detail: describeError(error) })
      isFailing = true
    }
  }

  async function run(job: ClaimedJob): Promise<void> {
    const stop = new AbortController()
    running.set(job.id, stop)
    const renewal = setInterval(() => {
      renewLease(store, holder, job.id, LEASE_MS).then(
        (isHeld) => isHeld || stop.abort(new JobLostError()),
        () => {
          // The next renewal may succeed; if none does, another process takes the job.
        },
      )
    }, RENEW_MS).unref()
    try {
      await transcribe(job, stop.signal)
    } catch (error) {
      const detail = describeError(error)
      log({ level: 'error', event: 'transcription.job_failed', ...createFields(job), detail })
    } finally {
      clearInterval(renewal)
    }
  }

  async function transcribe(job: ClaimedJob, signal: AbortSignal): Promise<void> {
    if (job.runs > MAX_RUNS) return fail(job, 'internal_error')
    try {
      const { key, address, ...speech } = openRequest(keys, job, job.sealed)
      const source = address ? transcription.fromAddress(address) : storedRecording(store, job.id, key)
      const result = await transcription.recognize(source, createFields(job), {
        ...speech,
        callerGone: signal,
        limits: transcription.limits.jobs,
      })
      if (result.outcome === 'refused') {
        const { refusal } = result
        if (refusal.reason === 'busy') return await requeue(job, refusal.retryAfterSeconds, 'nothing')
        return await fail(job, refusal.reason, 'detail' in refusal ? refusal.detail : undefined)
      }
      const encrypted = encrypt(key, RESULT, Buffer.from(JSON.stringify(result)))
      await finishJob(store, holder, {
        id: job.id,
        expiresAt: Date.now() + RESULT_KEPT_MS,
        result: encrypted,
      })
    } catch (error) {
      if (isClosed) return requeue(job, 0, 'nothing')
      if (signal.aborted) return
      if (!(error instanceof EngineError)) {
        await (job.runs < MAX_RUNS ? requeue(job, 10, 'runs') : fail(job, 'internal_error'))
        throw error
      }
      const isPassing = error.code === 'engine_unavailable' && job.retries < MAX_RETRIES
      await (isPassing
        ? requeue(job, error.retryAfterSeconds, 'retries')
        : fail(job, error.code, error.detail))
    }
  }

  function fail({ id }: ClaimedJob, problem: string, detail?: string): Promise<void> {
    return finishJob(store, holder, { id, expiresAt: Date.now() + RESULT_KEPT_MS, problem, detail })
  }

  function requeue({ id }: ClaimedJob, seconds: number, counted: 'runs' | 'retries' | 'nothing') {
    return requeueJob(store, holder, { id, delayMs: seconds * 1_000, counted })
  }

  const timer = setInterval(wake, POLL_MS).unref()
  // Jobs of the process before.
  wake()
  return {
    /** Looks for a job at once. */
    wake,
    /** Ends a job in this process, if it runs. */
    cancel: (id: string) => running.get(id)?.abort(new JobLostError()),
    /** Puts the jobs in progress back into the queue. */
    async close() {
      isClosed = true
      clearInterval(timer)
      await polling
      for (const stop of running.values()) stop.abort(new Error('The service is closing.'))
      await Promise.all(ends)
    },
  }
}

function createFields({ id, application }: ClaimedJob) {
  return { application, request: id }
}

const schema = z.object({
  /** The key of the job, in base64. */
  key: z.string(),
  /** The address of the recording; absent when it is stored. */
  address: z.string().optional(),
  language: z.string().optional(),
  prompt: z.string().optional(),
  format: z.enum(TRANSCRIPT_FORMATS).optional(),
})

/** The work of a job, and the key of its data. */
export interface JobRequest extends Omit<z.output<typeof schema>, 'key'> {
  readonly key: Buffer
}

/** Whose job it is. */
export interface JobOwner {
  readonly application: string
  readonly id: string
}

/** Encrypts the request of a job, which may contain an address with a token. */
export function sealRequest(keys: Keys, { application, id }: JobOwner, request: JobRequest): string {
  const text = JSON.stringify({ ...request, key: request.key.toString('base64') })
  return seal(keys, jobIdentity(application, id), text)
}

/** Decrypts the request of a job. */
export function openRequest(keys: Keys, { application, id }: JobOwner, sealed: string): JobRequest {
  const { key, ...request } = schema.parse(JSON.parse(open(keys, jobIdentity(application, id), sealed)))
  return { ...request, key: Buffer.from(key, 'base64') }
}
