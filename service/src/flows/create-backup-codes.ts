import type { CreatedBackupCodes } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { BACKUP_FACTOR, newBackupSet, storeShownSet } from '../accounts/backup-set.js'
import { consumeMessageBudget } from '../accounts/consume-budget.js'
import type { Application } from '../application.js'
import type { QueuedMessage } from '../delivery/message.js'
import { limited, locked } from '../refusals.js'
import type { RequestUser } from '../requests/request-user.js'
import { accountReference } from '../secrets/account-reference.js'
import { formatBackupCode } from '../secrets/backup-code.js'
import type { Queries } from '../store/store.js'
import { simulatedRefusal } from '../test-mode/simulated-outcomes.js'
import { writeNotice } from './account-notice.js'
import type { FlowContext } from './context.js'

type Created = Exclude<CreatedBackupCodes, { outcome: 'refused' }> & {
  readonly notices: readonly QueuedMessage[]
}

/**
 * Creates backup codes for a page that shows them once, in place of all earlier ones (R61). They count against the budget of
 * messages, so that they are limited as those that are sent.
 */
export async function createBackupCodes(
  context: FlowContext,
  application: Application,
  input: RequestUser,
): Promise<CreatedBackupCodes> {
  const { store, outbox, keys, log } = context
  const answer =
    simulatedRefusal(application, input.contact) ??
    (await store.transaction((tx) => create(context, tx, application, input)))
  const fields = {
    application: application.id,
    account: accountReference(keys, application, input.account),
    factor: BACKUP_FACTOR,
  }
  if (answer.outcome === 'refused') {
    log({ level: 'info', event: 'backup.refused', ...fields, reason: answer.refusal.reason })
    return answer
  }
  log({ level: 'info', event: 'backup.made', ...fields, reason: 'page' })
  const { notices, ...created } = answer
  if (notices.length > 0) void outbox.dispatch(notices)
  return created
}

async function create(
  context: FlowContext,
  tx: Queries,
  application: Application,
  { account: name, clientAddress }: RequestUser,
): Promise<Created | (CreatedBackupCodes & { readonly outcome: 'refused' })> {
  const now = Date.now()
  const account = await holdAccount(tx, application, name)
  const lockSeconds = lockedForSeconds(account, now)
  if (lockSeconds > 0) return locked(lockSeconds)
  const budgeted = { account: name, destinations: [], clientAddress, isCode: false }
  const { waitSeconds, budgets } = await consumeMessageBudget(tx, application, budgeted, now)
  context.onBudgets?.(budgets)
  if (waitSeconds > 0) return limited(waitSeconds)
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
