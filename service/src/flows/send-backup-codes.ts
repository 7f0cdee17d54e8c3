import type { BackupAnswer } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import {
  BACKUP_FACTOR,
  dropWaiting,
  keepWaiting,
  newBackupSet,
  settleWaiting,
} from '../accounts/backup-set.js'
import { spendMessage } from '../accounts/message-budget.js'
import { notify } from './account-notice.js'
import type { Application } from '../application.js'
import type { Core } from './context.js'
import type { Letter } from '../delivery/message.js'
import { accountReference } from '../log/logger.js'
import { showBackupCode } from '../secrets/backup-code.js'
import type { Queries } from '../store/store.js'
import { backupMessage, type Recipient } from '../message-texts/compose.js'
import { recipientsOf } from './recipients.js'
import { deliveryFailed, limited, locked } from '../refusals.js'
import type { BackupInput } from '../requests/inputs.js'

const HOUR_MS = 3_600_000

type Made =
  | {
      readonly outcome: 'made'
      readonly salt: string
      readonly codes: readonly Letter[]
      readonly notices: readonly Letter[]
    }
  | (BackupAnswer & { readonly outcome: 'refused' })

/**
 * Makes backup codes and delivers them to the person; the former set dies when they are on their way, not before
 * (R61).
 */
export async function sendBackupCodes(
  core: Core,
  application: Application,
  input: BackupInput,
): Promise<BackupAnswer> {
  const now = Date.now()
  const recipients = recipientsOf(core, application, input.method, input)
  const made =
    'outcome' in recipients
      ? recipients
      : await core.store.transaction((tx) => make(core, tx, application, input, recipients, now))
  const about = {
    application: application.id,
    account: accountReference(core.keys, application, input.account),
    factor: BACKUP_FACTOR,
  }
  if (made.outcome === 'refused') {
    core.log({ level: 'info', event: 'backup.refused', ...about, reason: made.refusal.reason })
    return made
  }
  core.log({ level: 'info', event: 'backup.made', ...about })
  if (made.notices.length > 0) void core.outbox.dispatch(made.notices)
  const outcome = await core.outbox.dispatch(made.codes)
  if (outcome === 'failed') await dropWaiting(core.store, application, input.account, made.salt)
  if (outcome === 'sent') await settleWaiting(core.store, application, input.account)
  return outcome === 'failed' ? deliveryFailed : { outcome, count: application.limits.backupCodes }
}

async function make(
  core: Core,
  tx: Queries,
  application: Application,
  input: BackupInput,
  recipients: readonly Recipient[],
  now: number,
): Promise<Made> {
  const account = await holdAccount(tx, application, input.account)
  const lockSeconds = lockedForSeconds(account, now)
  if (lockSeconds > 0) return locked(lockSeconds)
  const destinations = recipients.map((recipient) => recipient.to.toLowerCase())
  const spending = { account: input.account, destinations, clientAddress: input.clientAddress }
  const { waitSeconds, budgets } = await spendMessage(tx, application, spending, now)
  core.tellBudgets?.(budgets)
  if (waitSeconds > 0) return limited(waitSeconds)

  const set = newBackupSet(application)
  const shown = set.codes.map(showBackupCode)
  const messages = recipients.map((recipient) => backupMessage(application, recipient, shown))
  const times = { now, expiresAt: now + HOUR_MS, request: core.request }
  const letters = await core.outbox.enqueue(tx, application.id, messages, times)
  const names = letters.map(({ id }) => id)
  await keepWaiting(core, tx, application, input, set, names, now)
  const told = { notice: 'backup-made', besides: input.contact } as const
  const notices = await notify(core, tx, application, account, told, now)
  return { outcome: 'made', salt: set.salt, codes: letters, notices }
}
