import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { decrypt } from '../../store/secrets/encrypt.js'
import type { Keys } from '../../store/secrets/keys.js'
import type { Store } from '../../store/store.js'
import type { SpeechOptions } from '../engines/transcriber.js'
import type { Recognized } from '../recognized.js'
import { newJobKey, storeRecording } from './job-recording.js'
import { type JobRunnerParts, jobRunner, openRequest, RESULT, sealRequest } from './job-runner.js'
import { deleteJob, findJob, insertJob, type JobRow, type JobUse, queueJob, useOf } from './job-table.js'

const LIFETIME_MS = 24 * 60 * 60_000
/** When a job is deleted whose process died while it stored the recording. */
const STORING_MS = 60 * 60_000
/** The jobs that an application may have at once: jobs in all, and those that are not finished. */
const MAX_USE: Omit<JobUse, 'bytes'> = { kept: 1_000, unfinished: 100 }

/** When an application that has too many jobs may create another one, in seconds. */
export const TOO_MANY_JOBS_RETRY_SECONDS = 60

/** A job of an application. */
export interface Job extends Pick<JobRow, 'state' | 'createdAt' | 'expiresAt'> {
  readonly id: string
  /** Of a job that is done. */
  readonly recognized?: Recognized
  /** The problem of a job that failed. */
  readonly problem?: string
  /** The exact problem, if that is known. */
  readonly detail?: string
}

/** The recording: an address, or a file, which is copied. */
export type JobFile = { readonly address: string } | { readonly path: string }

/** Transcribes recordings without a caller who waits. Jobs survive the process; each belongs to one application. */
export type TranscriptionJobs = ReturnType<typeof transcriptionJobs>

/** Creates the jobs of all applications, and runs those that are due. */
export function transcriptionJobs(parts: JobRunnerParts) {
  const { store, keys } = parts
  const runner = jobRunner(parts)
  const { jobs: limits, jobStorageBytes } = parts.transcription.limits
  const isWithin = ({ kept, unfinished, bytes }: JobUse) =>
    kept < MAX_USE.kept && unfinished < MAX_USE.unfinished && bytes <= jobStorageBytes

  return {
    isAvailable: parts.transcription.isAvailable,
    limits,

    hasRoom: async (application: string) => isWithin(await useOf(store, application)),

    /** Creates a job; `undefined` when the application has too many. */
    async create(application: string, file: JobFile, speech: SpeechOptions): Promise<Job | undefined> {
      const id = `tj_${randomBytes(16).toString('base64url')}`
      const key = newJobKey()
      const address = 'address' in file ? { address: file.address } : {}
      const bytes = 'path' in file ? (await stat(file.path)).size : 0
      const now = Date.now()
      const sealed = sealRequest(keys, { application, id }, { ...speech, ...address, key })
      const isCreated = await store.transaction(async (tx) => {
        // One at a time, so that many requests at once do not exceed the maximum.
        await tx.query('SELECT 1 FROM application WHERE application = $1 FOR NO KEY UPDATE', [application])
        const use = await useOf(tx, application)
        if (!isWithin({ ...use, bytes: use.bytes + bytes })) return false
        await insertJob(tx, { id, application, sealed, bytes, now, expiresAt: now + STORING_MS })
        return true
      })
      if (!isCreated) return undefined
      try {
        // Outside the transaction: a gigabyte takes a minute, and an embedded database has one connection.
        if ('path' in file) await storeRecording(store, id, key, file.path)
        const expiresAt = now + LIFETIME_MS
        await queueJob(store, id, expiresAt)
        runner.wake()
        return { id, state: 'queued', createdAt: now, expiresAt }
      } catch (error) {
        // Otherwise it expires.
        await deleteJob(store, application, id).catch(() => {})
        throw error
      }
    },

    find: (application: string, id: string) => readJob(store, keys, application, id),

    /** Cancels a job, and deletes everything that belongs to it. Whether there was one. */
    async remove(application: string, id: string): Promise<boolean> {
      const isRemoved = await deleteJob(store, application, id)
      if (isRemoved) runner.cancel(id)
      return isRemoved
    },

    close: () => runner.close(),
  }
}

async function readJob(store: Store, keys: Keys, application: string, id: string): Promise<Job | undefined> {
  const row = await findJob(store, application, id)
  if (!row) return undefined
  const { sealed, result, problem, ...stored } = row
  const job = { id, ...stored }
  if (job.state === 'failed') {
    const [, code = 'internal_error', detail] = /^(\S+)(?: (.+))?$/.exec(problem ?? '') ?? []
    return { ...job, problem: code, ...(detail !== undefined && { detail }) }
  }
  if (!result) return job
  const { key } = openRequest(keys, { application, id }, sealed)
  const recognized: Recognized = JSON.parse(
    decrypt(key, RESULT, Buffer.from(result, 'base64')).toString('utf8'),
  )
  return { ...job, recognized }
}
