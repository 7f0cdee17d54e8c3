import type { AccountFactors, RemoveFactorAnswer, VERBS } from 'countersign/protocol'
import { holdAccount, lockedForSeconds } from '../accounts/account.js'
import { readAccountFactors } from '../accounts/account-factors.js'
import { removeAppSecret } from '../accounts/app-secret.js'
import { removeBackupSet } from '../accounts/backup-set.js'
import type { Application } from '../application.js'
import { offeredKeyMethods } from '../applications/offered-methods.js'
import type { QueuedMessage } from '../delivery/message.js'
import { writeEvent } from '../events/write-events.js'
import { locked } from '../refusals.js'
import type { RequestUser, VerbInput } from '../requests/inputs.js'
import { accountReference } from '../secrets/keys.js'
import { simulatedRefusal } from '../test-mode/simulated-carrier.js'
import { writeNotice } from './account-notice.js'
import type { FlowContext } from './context.js'

/** Removes the authenticator app or all backup codes of an account, and notifies every proven contact. */
export async function removeFactor(
  context: FlowContext,
  application: Application,
  { account: name, contact, factor: removed }: VerbInput<typeof VERBS.removeFactor>,
): Promise<RemoveFactorAnswer> {
  const simulated = simulatedRefusal(application, contact)
  if (simulated) return simulated
  const factor = removed.toUpperCase()
  const now = Date.now()
  const notices: QueuedMessage[] = []
  const answer = await context.store.transaction(async (tx): Promise<RemoveFactorAnswer> => {
    const account = await holdAccount(tx, application, name)
    const seconds = lockedForSeconds(account, now)
    if (seconds > 0) return locked(seconds)
    const remove = removed === 'app' ? removeAppSecret : removeBackupSet
    if (!(await remove(tx, application, name))) return { outcome: 'none' }
    const data = { factor, by: 'user' }
    await writeEvent(tx, { application: application.id, account: name, type: 'factor.removed', data }, now)
    const notice = { notice: 'factor-removed', account: name, toAll: true } as const
    notices.push(...(await writeNotice(context, tx, application, account, notice, now)))
    return { outcome: 'removed' }
  })
  if (notices.length > 0) void context.outbox.dispatch(notices)
  if (answer.outcome === 'removed') {
    const account = accountReference(context.keys, application, name)
    context.log({ level: 'info', event: 'factor.removed', application: application.id, account, factor })
  }
  return answer
}

/** The factors that an account has: its authenticator app, its backup codes for the contact, and when they were last used. */
export async function accountFactors(
  { store }: Pick<FlowContext, 'store'>,
  application: Application,
  input: RequestUser,
): Promise<AccountFactors> {
  return readAccountFactors(store, application, input, offeredKeyMethods(application))
}
