import type { Contact } from 'countersign/protocol'
import type { Application, Notice } from '../application.js'
import type { Core } from './context.js'
import type { Channel, Letter } from '../delivery/message.js'
import { describe } from '../log/logger.js'
import type { Queries } from '../store/store.js'
import { chooseLanguage } from '../message-texts/catalogue.js'
import { noticeMessage, type Recipient } from '../message-texts/compose.js'
import type { AccountRow } from '../accounts/account.js'

const DAY_MS = 86_400_000

/** What a person is told of. */
export interface Told {
  readonly notice: Notice
  /** Where to when no contact has proven theirs. */
  readonly fallback?: Contact | undefined
  /** A contact that learns of it anyway. */
  readonly besides?: Contact | undefined
  readonly seconds?: number
}

/**
 * Writes a notice to the person (R34, R61, R63), to a contact that has proven theirs, else to `fallback`; to nobody
 * when neither can be reached, or the application leaves that notice to others. Returns the letters to dispatch once
 * they are committed.
 */
export async function notify(
  core: Core,
  tx: Queries,
  application: Application,
  account: Pick<AccountRow, 'proven_email' | 'proven_phone' | 'locale'>,
  told: Told,
  now: number,
): Promise<Letter[]> {
  if (!application.notices.includes(told.notice)) return []
  const locale = chooseLanguage(account.locale, application.locale)
  const recipient = reachable(core, application, told.besides, [
    address('email', account.proven_email),
    address('sms', account.proven_phone),
    told.fallback && told.fallback.kind !== 'phone' ? address('email', told.fallback.email) : undefined,
    told.fallback && told.fallback.kind !== 'email' ? address('sms', told.fallback.phone) : undefined,
  ])
  if (!recipient) return []
  const message = noticeMessage(application, { ...recipient, locale }, told.notice, told.seconds)
  const times = { now, expiresAt: now + DAY_MS, request: core.request }
  return core.outbox.enqueue(tx, application.id, [message], times)
}

/** The same in the transaction of an attempt, which counts even when the notice cannot be written. */
export async function notifyOfAttempt(
  core: Core,
  tx: Queries,
  application: Application,
  account: Parameters<typeof notify>[3],
  told: Told,
  now: number,
): Promise<Letter[]> {
  await tx.query('SAVEPOINT notice')
  try {
    return await notify(core, tx, application, account, told, now)
  } catch (error) {
    await tx.query('ROLLBACK TO SAVEPOINT notice')
    core.log({
      level: 'error',
      event: 'notice.lost',
      application: application.id,
      reason: told.notice,
      detail: describe(error),
    })
    return []
  }
}

type Address = Omit<Recipient, 'locale'>

function address(channel: Channel, to: string | null): Address | undefined {
  return to === null ? undefined : { channel, to }
}

function reachable(
  core: Core,
  application: Application,
  besides: Contact | undefined,
  candidates: readonly (Address | undefined)[],
): Address | undefined {
  return candidates.find((candidate) => {
    if (!candidate || !core.outbox.serves(application, candidate.channel)) return false
    return !besides || !addressesOf(besides).includes(candidate.to)
  })
}

function addressesOf(contact: Contact): string[] {
  if (contact.kind === 'dual') return [contact.email, contact.phone]
  return [contact.kind === 'email' ? contact.email : contact.phone]
}
