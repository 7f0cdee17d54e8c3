import { writeEvent } from '../../messages/events/write-events.js'
import { type Queries, queryOne, type Store } from '../../store/store.js'

/** How far a job has come. */
export type JobState = 'queued' | 'running' | 'done' | 'failed'

/** A job that a process runs. */
export interface ClaimedJob {
  readonly id: string
  readonly application: string
  readonly sealed: string
  /** How often a process began to run it, with this time. */
  readonly runs: number
  /** How often it was put back because the engine was unavailable. */
  readonly retries: number
}

/** A job as its application sees it, with its texts encrypted. */
export interface JobRow {
  readonly state: JobState
  readonly createdAt: number
  /** When the job and its result are deleted. */
  readonly expiresAt: number
  readonly sealed: string
  readonly result: string | null
  readonly problem: string | null
}

/** The number of jobs of an application, and the size of their recordings. */
export interface JobUse {
  readonly kept: number
  readonly unfinished: number
  readonly bytes: number
}

/** How much an application has in the table. */
export async function useOf(queries: Queries, application: string): Promise<JobUse> {
  const [row] = await queries.query<JobUse>(
    `SELECT count(*)::integer AS kept, (count(*) FILTER (WHERE state NOT IN ('done', 'failed')))::integer AS unfinished,
       coalesce(sum(bytes), 0)::bigint AS bytes
     FROM transcription_job WHERE application = $1`,
    [application],
  )
  return row ? { ...row, bytes: Number(row.bytes) } : { kept: 0, unfinished: 0, bytes: 0 }
}

/** Adds a job whose recording is not stored yet, so that it cannot run. */
export async function insertJob(
  tx: Queries,
  job: {
    readonly id: string
    readonly application: string
    readonly sealed: string
    readonly bytes: number
    readonly now: number
    readonly expiresAt: number
  },
): Promise<void> {
  await tx.query(
    `INSERT INTO transcription_job (id, application, state, sealed, bytes, created_at, due_at, expires_at)
     VALUES ($1, $2, 'storing', $3, $4, $5::bigint, $5::bigint, $6)`,
    [job.id, job.application, job.sealed, job.bytes, job.now, job.expiresAt],
  )
}

/** Says that the recording of a job is stored. Throws if the job is gone. */
export async function queueJob(store: Store, id: string, expiresAt: number): Promise<void> {
  const queued = await store.query(
    `UPDATE transcription_job SET state = 'queued', due_at = $2, expires_at = $3
     WHERE id = $1 AND state = 'storing' RETURNING 1`,
    [id, Date.now(), expiresAt],
  )
  if (queued.length === 0) throw new Error('The job expired while its recording was being stored.')
}

/** A job of an application that has not expired. */
export function findJob(store: Store, application: string, id: string): Promise<JobRow | undefined> {
  return queryOne<JobRow>(
    store,
    `SELECT state, sealed, created_at AS "createdAt", expires_at AS "expiresAt", encode(result, 'base64') AS result, problem
     FROM transcription_job WHERE id = $1 AND application = $2 AND expires_at > $3 AND state <> 'storing'`,
    [id, application, Date.now()],
  )
}

/** Deletes a job with everything that belongs to it. Whether there was one. */
export async function deleteJob(store: Store, application: string, id: string): Promise<boolean> {
  const deleted = await store.query(
    'DELETE FROM transcription_job WHERE id = $1 AND application = $2 AND expires_at > $3 RETURNING 1',
    [id, application, Date.now()],
  )
  return deleted.length > 0
}

/** Takes the next job that is due: a queued one, or one whose process died. */
export function claimJob(store: Store, holder: string, leaseMs: number): Promise<ClaimedJob | undefined> {
  const now = Date.now()
  return queryOne<ClaimedJob>(
    store,
    `UPDATE transcription_job SET state = 'running', holder = $1, due_at = $3::bigint, runs = runs + 1
     WHERE id = (SELECT id FROM transcription_job
       WHERE state IN ('queued', 'running') AND due_at <= $2::bigint AND expires_at > $2::bigint
       ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, application, sealed, runs, retries`,
    [holder, now, now + leaseMs],
  )
}

/** Says that the process still runs a job. Whether the job is still its own. */
export async function renewLease(
  store: Store,
  holder: string,
  id: string,
  leaseMs: number,
): Promise<boolean> {
  const renewed = await store.query(
    `UPDATE transcription_job SET due_at = $3 WHERE id = $1 AND holder = $2 AND state = 'running' RETURNING 1`,
    [id, holder, Date.now() + leaseMs],
  )
  return renewed.length > 0
}

/** Ends a job of this holder, deletes its recording, and writes the event for its application. */
export function finishJob(
  store: Store,
  holder: string,
  end: {
    readonly id: string
    readonly expiresAt: number
    readonly result?: Buffer
    readonly problem?: string
    /** Why, for people. It is stored behind the code. */
    readonly detail?: string | undefined
  },
): Promise<void> {
  const { id, expiresAt, result, problem, detail } = end
  return store.transaction(async (tx) => {
    const [finished] = await tx.query<{ application: string }>(
      `UPDATE transcription_job SET state = $3, result = decode($4, 'base64'), problem = $5, expires_at = $6,
         holder = NULL, bytes = 0
       WHERE id = $1 AND holder = $2 AND state = 'running' RETURNING application`,
      [
        id,
        holder,
        result ? 'done' : 'failed',
        result?.toString('base64') ?? null,
        problem && detail ? `${problem} ${detail}` : (problem ?? null),
        expiresAt,
      ],
    )
    if (!finished) return
    await tx.query('DELETE FROM transcription_job_part WHERE job = $1', [id])
    const type = result ? 'transcription.done' : 'transcription.failed'
    const data = { job: { id, ...(problem !== undefined && { problem }) } }
    await writeEvent(tx, { application: finished.application, type, data }, Date.now())
  })
}

/** Puts a job of this holder back into the queue; `counted` says which count grows with it. */
export async function requeueJob(
  store: Store,
  holder: string,
  job: { readonly id: string; readonly delayMs: number; readonly counted: 'runs' | 'retries' | 'nothing' },
): Promise<void> {
  const { id, delayMs, counted } = job
  await store.query(
    `UPDATE transcription_job SET state = 'queued', holder = NULL, due_at = $3, runs = runs - $4, retries = retries + $5
     WHERE id = $1 AND holder = $2 AND state = 'running'`,
    [id, holder, Date.now() + delayMs, counted === 'runs' ? 0 : 1, counted === 'retries' ? 1 : 0],
  )
}
