import type { Application } from '../accounts/application.js'
import { deriveIds } from '../messages/delivery/outbox-table.js'
import { WORST_STATE_FIRST } from '../messages/delivery/queued-message.js'
import type { Channel } from '../messages/message.js'
import { findSqlState } from '../store/sql-state.js'
import type { FlowContext } from './context.js'

const UNIQUE_VIOLATION = '23505'

/** The rows that an earlier try of a request wrote to the outbox. Times in milliseconds since 1970. */
export interface EarlierTry {
  /** Delivery state of its messages; the worse of the two of DUAL. */
  readonly outcome: 'sent' | 'queued' | 'failed'
  readonly messages: readonly { readonly channel: Channel }[]
  readonly challenge: string | null
  readonly expiresAt: number
  /** When the code may be sent again; `null` when there is no challenge, or another one in its place. */
  readonly resendAt: number | null
}

type Row = Pick<EarlierTry, 'challenge' | 'expiresAt' | 'resendAt'> & {
  readonly state: string
  readonly channel: Channel
}

const OUTCOMES: Readonly<Record<string, EarlierTry['outcome']>> = {
  queued: 'queued',
  refused: 'failed',
  expired: 'failed',
}

/** Runs a request that writes messages once. If a process that died or was slow wrote them before, `answer` makes the response of these. */
export async function runOnceForOperation<T>(
  context: FlowContext,
  application: Application,
  account: string,
  steps: { readonly run: () => Promise<T>; readonly answer: (earlier: EarlierTry) => T },
): Promise<T> {
  const { operation } = context
  if (!operation) return steps.run()
  const answerEarlier = async () => {
    const earlier = await earlierTry(context, application, account, operation.id)
    return earlier && { answer: steps.answer(earlier) }
  }
  const before = operation.isTakenOver ? await answerEarlier() : undefined
  if (before) return before.answer
  try {
    return await steps.run()
  } catch (error) {
    const meanwhile = findSqlState(error) === UNIQUE_VIOLATION ? await answerEarlier() : undefined
    if (meanwhile) return meanwhile.answer
    throw error
  }
}

async function earlierTry(
  { store }: FlowContext,
  application: Application,
  account: string,
  operation: string,
): Promise<EarlierTry | undefined> {
  const rows = await store.query<Row>(
    `SELECT outbox.state, outbox.channel, outbox.challenge, outbox.expires_at AS "expiresAt",
       challenge.resend_at AS "resendAt"
     FROM outbox LEFT JOIN challenge ON challenge.application = outbox.application
       AND challenge.account = outbox.account AND challenge.id = outbox.challenge
     WHERE outbox.application = $1 AND outbox.account = $2 AND outbox.id = ANY ($3)`,
    [application.id, account, deriveIds(operation)],
  )
  const [worst] = rows.sort((a, b) => WORST_STATE_FIRST.indexOf(a.state) - WORST_STATE_FIRST.indexOf(b.state))
  return worst && { ...worst, outcome: OUTCOMES[worst.state] ?? 'sent', messages: rows }
}
