import type { AnswerOf, Granted, Refused } from 'countersign/protocol'
import { countLockedSeconds, holdAccount } from '../accounts/account.js'
import type { Application } from '../accounts/application.js'
import {
  activateWaitingSet,
  BACKUP_FACTOR,
  dropWaitingSet,
  newBackupSet,
  storeShownSet,
  storeWaitingSet,
} from '../accounts/backup-set.js'
import { type BudgetedMessage, consumeMessageBudget } from '../accounts/message-budget.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import { backupMessage, type Recipient } from '../messages/texts/compose.js'
import { formatBackupCode } from '../store/secrets/codes.js'
import type { Queries } from '../store/store.js'
import { HOUR_MS } from '../time.js'
import { writeNotice } from './account-notice.js'
import { createBudgetedMessage } from './begin-challenges.js'
import { type Flow, type FlowContext, factorFields } from './context.js'
import type { InputOf, RequestUser } from './inputs.js'
import { checkPhones } from './phone-check.js'
import { refuseLimited, refuseLocked, refuseUndelivered } from './refusals.js'
import { listRecipients } from './send-code.js'
import { runOnceForOperation } from './taken-over.js'
import { simulateRefusal } from './test-mode/simulated-carrier.js'

type Created = Granted<'createBackupCodes'> & {
  readonly notices: readonly QueuedMessage[]
}

/** Creates backup codes for a page that shows them once, in place of all earlier ones (R61). They count against the budget of messages. */
export const createBackupCodes: Flow<'createBackupCodes'> = async (context, application, input) => {
  const { store, outbox } = context
  const answer =
    simulateRefusal(application, input.contact) ??
    (await store.transaction((tx) => create(context, tx, application, input)))
  logBackup(context, application, input, answer, 'page')
  if (answer.outcome === 'refused') return answer
  const { notices, ...created } = answer
  if (notices.length > 0) void outbox.dispatch(notices)
  return created
}

async function create(
  context: FlowContext,
  tx: Queries,
  application: Application,
  { account: name, clientAddress }: RequestUser,
): Promise<Created | Refused> {
  const now = Date.now()
  const budgeted = { account: name, destinations: [], clientAddress }
  const begun = await begin(context, tx, application, budgeted, now)
  if ('outcome' in begun) return begun
  const { account } = begun
  const set = newBackupSet(application)
  await storeShownSet(context.keys, tx, application, name, set, now)
  const notices = await writeNotice(
    context,
    tx,
    application,
    account,
    { notice: 'backup-made', account: name },
    now,
  )
  return { outcome: 'created', codes: set.codes.map(formatBackupCode), notices }
}

/** Holds the account and consumes the budget of messages for a new set, unless either refuses it. */
async function begin(
  context: FlowContext,
  tx: Queries,
  application: Application,
  message: Omit<BudgetedMessage, 'isCode'>,
  now: number,
) {
  const account = await holdAccount(context.keys, tx, application, message.account)
  const lockSeconds = countLockedSeconds(account, now)
  if (lockSeconds > 0) return refuseLocked(lockSeconds)
  const budgeted = { ...message, isCode: false }
  const { waitSeconds, budgets, traffic } = await consumeMessageBudget(tx, application, budgeted, now)
  context.onBudgets?.(budgets)
  return waitSeconds > 0 ? refuseLimited(waitSeconds) : { account, traffic }
}

/** Logs that backup codes were created, with `how` if they were not sent, or why not. */
function logBackup(
  context: FlowContext,
  application: Application,
  { account }: RequestUser,
  answer: CreatedToSend | Granted<'createBackupCodes'>,
  how?: 'page',
): void {
  const isRefused = answer.outcome === 'refused'
  const reason = isRefused ? answer.refusal.reason : how
  context.log({
    level: 'info',
    event: isRefused ? 'backup.refused' : 'backup.made',
    ...factorFields(context, application, { account }, BACKUP_FACTOR),
    ...(reason && { reason }),
  })
}

type CreatedToSend =
  | {
      readonly outcome: 'created'
      readonly salt: string
      readonly messages: readonly QueuedMessage[]
      readonly notices: readonly QueuedMessage[]
    }
  | Refused

/** Creates backup codes and sends them to the user. The former set stays valid until the new one was handed over (R61). */
export const sendBackupCodes: Flow<'sendBackupCodes'> = (context, application, input) => {
  return runOnceForOperation<AnswerOf<'sendBackupCodes'>>(context, application, input.account, {
    run: () => createAndSend(context, application, input),
    answer: ({ outcome }) =>
      outcome === 'failed'
        ? refuseUndelivered(undefined)
        : { outcome, count: application.limits.backupCodes },
  })
}

const createAndSend: Flow<'sendBackupCodes'> = async (context, application, input) => {
  const now = Date.now()
  const { store, outbox } = context
  const recipients = listRecipients(context, application, input.method, input)
  const created =
    'outcome' in recipients
      ? recipients
      : ((await checkPhones(context, application, recipients, 'backup-codes')) ??
        (await store.transaction((tx) => createToSend(context, tx, application, input, recipients, now))))
  logBackup(context, application, input, created)
  if (created.outcome === 'refused') return created
  if (created.notices.length > 0) void outbox.dispatch(created.notices)
  const dispatched = await outbox.dispatch(created.messages)
  const { outcome } = dispatched
  if (outcome === 'failed') await dropWaitingSet(store, application, input.account, created.salt)
  if (outcome === 'sent') await activateWaitingSet(store, application, input.account)
  if (outcome === 'failed') return refuseUndelivered(dispatched.contact)
  return { outcome, count: application.limits.backupCodes }
}

async function createToSend(
  context: FlowContext,
  tx: Queries,
  application: Application,
  input: InputOf<'sendBackupCodes'>,
  recipients: readonly Recipient[],
  now: number,
): Promise<CreatedToSend> {
  const begun = await begin(context, tx, application, createBudgetedMessage(recipients, input), now)
  if ('outcome' in begun) return begun
  const { account, traffic } = begun
  // A message that is no code is never `untyped`, so this writes nothing while the transaction holds the traffic's rows.
  if (traffic) return context.phoneTraffic.refuse(application, traffic, now)

  const set = newBackupSet(application)
  const codes = set.codes.map(formatBackupCode)
  const composed = recipients.map((recipient) => backupMessage(application, recipient, codes))
  const details = {
    now,
    expiresAt: now + HOUR_MS,
    account: input.account,
    request: context.requestId,
    operation: context.operation?.id,
  }
  const messages = await context.outbox.enqueue(tx, application.id, composed, details)
  const ids = messages.map(({ id }) => id)
  await storeWaitingSet(context.keys, tx, application, input, set, ids, now)
  const notice = { notice: 'backup-made', account: input.account, except: input.contact } as const
  const notices = await writeNotice(context, tx, application, account, notice, now)
  return { outcome: 'created', salt: set.salt, messages, notices }
}
