import type { Contact } from 'countersign/protocol'
import type { AccountRow } from '../accounts/account.js'
import type { Application, Notice } from '../accounts/application.js'
import type { QueuedMessage } from '../messages/delivery/queued-message.js'
import type { Channel } from '../messages/message.js'
import { chooseLanguage } from '../messages/texts/catalogue.js'
import { noticeMessage, type Recipient } from '../messages/texts/compose.js'
import type { Queries } from '../store/store.js'
import { DAY_MS } from '../time.js'
import { type FlowContext, runInSavepoint } from './context.js'
import { refuseRecipient } from './send-code.js'

/** A notice to the account holder. */
export interface AccountNotice {
  readonly notice: Notice
  readonly account: string
  /** The recipient when the account has no proven contact. */
  readonly fallback?: Contact | undefined
  /** A contact that learns of the event anyway. */
  readonly except?: Contact | undefined
  /** The duration of a lock. */
  readonly seconds?: number
  /** Whether the mailbox and the phone both get the notice. Defaults to the first of them that can be reached. */
  readonly toAll?: boolean
}

type NotifiedAccount = Pick<AccountRow, 'proven_email' | 'proven_phone' | 'locale'>

/**
 * Writes a notice to the account holder (R34, R61, R63), or to `fallback`, unless it is switched off or no contact can be reached.
 * Returns the messages to dispatch after the transaction.
 */
export async function writeNotice(
  context: FlowContext,
  tx: Queries,
  application: Application,
  account: NotifiedAccount,
  notice: AccountNotice,
  now: number,
): Promise<QueuedMessage[]> {
  if (!application.notices.includes(notice.notice)) return []
  const { fallback, except, toAll = false } = notice
  const [first, ...others] = reachable(context, application, except, [
    address('email', account.proven_email),
    address('sms', account.proven_phone),
    fallback && fallback.kind !== 'phone' ? address('email', fallback.email) : undefined,
    fallback && fallback.kind !== 'email' ? address('sms', fallback.phone) : undefined,
  ])
  if (!first) return []
  const locale = chooseLanguage(account.locale, application.locale)
  const messages = [first, ...(toAll ? others : [])].map((recipient) =>
    noticeMessage(application, { ...recipient, locale }, notice.notice, notice.seconds),
  )
  const details = { now, expiresAt: now + DAY_MS, account: notice.account, request: context.requestId }
  return context.outbox.enqueue(tx, application.id, messages, details)
}

/** `writeNotice` in the transaction of an attempt, which is committed even if the notice cannot be written. */
export async function writeNoticeOfAttempt(
  ...given: Parameters<typeof writeNotice>
): Promise<QueuedMessage[]> {
  const [context, tx, { id: application }, , { notice: reason }] = given
  const about = { event: 'notice.failed', application, reason }
  return (await runInSavepoint(context, tx, about, () => writeNotice(...given))) ?? []
}

type Address = Omit<Recipient, 'locale'>

function address(channel: Channel, to: string | null): Address | undefined {
  return to === null ? undefined : { channel, to }
}

function reachable(
  context: FlowContext,
  application: Application,
  except: Contact | undefined,
  candidates: readonly (Address | undefined)[],
): Address[] {
  return candidates.filter((candidate): candidate is Address => {
    if (!candidate || !context.outbox.serves(application, candidate.channel)) return false
    // Nothing proves that a contact from a request belongs to a user.
    if (refuseRecipient(application, candidate)) return false
    return !except || !listAddresses(except).includes(candidate.to)
  })
}

function listAddresses(contact: Contact): string[] {
  if (contact.kind === 'dual') return [contact.email, contact.phone]
  return [contact.kind === 'email' ? contact.email : contact.phone]
}
