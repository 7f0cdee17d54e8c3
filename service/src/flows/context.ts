import type { AnswerOf, VerbName } from 'countersign/protocol'
import type { Application } from '../accounts/application.js'
import type { BudgetLeft } from '../accounts/message-budget.js'
import type { ActivityCounter } from '../messages/activity/count-activity.js'
import type { PhoneCheck } from '../messages/carriers/phone-check.js'
import type { Outbox } from '../messages/delivery/outbox.js'
import { accountReference, type Keys } from '../store/secrets/keys.js'
import type { Queries, Store } from '../store/store.js'
import { describeError, type LogEvent, type Logger } from '../telemetry/log/logger.js'
import type { TranscriptionJobs } from '../transcription/jobs/transcription-jobs.js'
import type { LiveTranscription } from '../transcription/live/live-transcription.js'
import type { Transcription } from '../transcription/transcription.js'
import type { Operation } from './idempotency/idempotent-requests.js'
import type { InputOf } from './inputs.js'
import type { PhoneTraffic } from './phone-traffic.js'

/** The parts that every flow works with, the same for all applications. */
export interface FlowContext {
  readonly store: Store
  readonly keys: Keys
  readonly outbox: Outbox
  readonly transcription: Transcription
  readonly jobs: TranscriptionJobs
  readonly live: LiveTranscription
  readonly phoneTraffic: PhoneTraffic
  readonly phoneCheck?: PhoneCheck | undefined
  readonly underWay: RequestsUnderWay
  readonly activity: ActivityCounter
  readonly log: Logger
  readonly requestId?: string
  /** The current request, if it has an `Idempotency-Key`. */
  readonly operation?: Operation
  /** Receives the state of the message budgets whenever a message was requested. */
  readonly onBudgets?: (budgets: readonly BudgetLeft[]) => void
}

/** The work of the service for a verb. */
export type Flow<Name extends VerbName> = (
  context: FlowContext,
  application: Application,
  input: InputOf<Name>,
) => Promise<AnswerOf<Name>>

/** The fields in the log of an account, one of its factors, and what that approves. */
export function factorFields(
  { keys }: FlowContext,
  { id }: Application,
  { account, approval, transaction }: Pick<InputOf<'verify'>, 'account' | 'approval' | 'transaction'>,
  factor: string,
) {
  const fields = { application: id, account: accountReference(keys, id, account), factor }
  return approval && transaction !== undefined ? { ...fields, approval: transaction } : fields
}

/** Does a part of a transaction, which is committed even if the part fails: then it is undone and logged. */
export async function runInSavepoint<T>(
  { log }: FlowContext,
  tx: Queries,
  about: Pick<LogEvent, 'event' | 'application' | 'reason'>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  await tx.query('SAVEPOINT part')
  try {
    return await work()
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT part')
    log({ level: 'error', ...about, detail: describeError(error) })
    return undefined
  }
}

/** When a request may be repeated that was refused because others of its account are under way. Most take less than a second. */
export const ACCOUNT_BUSY_SECONDS = 1

/** Counts the requests of each account that are under way in this process. */
export type RequestsUnderWay = ReturnType<typeof limitRequestsUnderWay>

/** Allows `maxPerAccount` requests of one account, which wait for the same rows: they would occupy every database connection (R139). */
export function limitRequestsUnderWay(maxPerAccount: number) {
  const counts = new Map<string, number>()
  return {
    /** Counts a request until the returned function is called. `undefined` if as many of the account are under way as the process allows. */
    enter({ id }: Application, account: string): (() => void) | undefined {
      const name = `${id} ${account}`
      const count = counts.get(name) ?? 0
      if (count >= maxPerAccount) return undefined
      counts.set(name, count + 1)
      return () => {
        const left = (counts.get(name) ?? 1) - 1
        if (left > 0) counts.set(name, left)
        else counts.delete(name)
      }
    },
  }
}
