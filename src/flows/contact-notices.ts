import type { NoticeContact } from '../options/recovery.js'
import type { Settings } from '../options/settings.js'
import { composeNotice } from '../pages/notices/compose.js'
import type { NoticeFacts } from '../pages/notices/notice.js'
import { limitTime } from '../time.js'

/** A notice to every contact of an account. */
export interface ContactNotice {
  readonly facts: NoticeFacts
  /** The preferred languages, best first. */
  readonly locales: readonly string[]
  /** Email addresses, and phone numbers in E.164 format. */
  readonly contacts: readonly string[]
  /** Creates the link that cancels a recovery, one for each message. */
  readonly cancelUrl?: () => Promise<string>
}

/** How long the host may take to send a notice. */
const SEND_TIMEOUT_MS = 10_000

/** Has the host send a notice to every contact of an account. Returns the places of those it was sent to; a failure is logged. */
export async function notifyContacts(settings: Settings, notice: ContactNotice): Promise<readonly number[]> {
  const sent = await Promise.all(
    notice.contacts.map((contact) => notifyContact(settings, findChannel(contact), notice)),
  )
  return sent.flatMap((isSent, place) => (isSent ? [place] : []))
}

async function notifyContact(
  { recovery, appName, languages, logger }: Settings,
  contact: NoticeContact,
  { facts, locales, cancelUrl: linkFor }: ContactNotice,
): Promise<boolean> {
  try {
    const cancelUrl = await linkFor?.()
    const notice = composeNotice(
      { facts, appName, languages: languages.texts, ...(cancelUrl && { cancelUrl }) },
      locales,
    )
    await limitTime(Promise.resolve(recovery?.onNotice(contact, notice)), SEND_TIMEOUT_MS)
    return true
  } catch (error) {
    logger.error(`countersign: the notice ${facts.type} was not sent to one of the user's contacts`, error)
    return false
  }
}

/** Where a notice to a contact goes. */
function findChannel(contact: string): NoticeContact {
  return { channel: contact.startsWith('+') ? 'phone' : 'email', to: contact }
}
