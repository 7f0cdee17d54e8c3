import * as z from 'zod'
import type { NoticeContact } from '../options/recovery.js'
import type { Settings } from '../options/settings.js'
import { composeNotice } from '../pages/notices/compose.js'
import type { NoticeFacts } from '../pages/notices/notice.js'
import type { ItemStore } from '../stores/store.js'
import { type Links, linksIn } from '../stores/trust/links.js'
import { withTimeout } from '../time.js'

/** A notice to every contact of an account. */
export interface ContactNotice {
  readonly facts: NoticeFacts
  /** The preferred languages, best first. */
  readonly locales: readonly string[]
  /** Email addresses, and phone numbers in E.164 format. */
  readonly contacts: readonly string[]
  /** What the link in the notice cancels, and until when it works. */
  readonly cancels?: CancelSubject & { readonly until: number }
}

/** How long the host may take to send a notice. */
const SEND_TIMEOUT_MS = 10_000

/** Sends notices to every contact of an account through the host's `recovery.onNotice`. */
export class ContactNotices {
  private readonly settings: Settings
  private readonly links: CancelLinks

  constructor(settings: Settings, links: CancelLinks) {
    this.settings = settings
    this.links = links
  }

  /** Returns the places of the contacts that the host sent the notice to. A failure is logged. */
  async send(notice: ContactNotice): Promise<readonly number[]> {
    const sent = await Promise.all(notice.contacts.map((contact) => this.sendTo(channelOf(contact), notice)))
    return sent.flatMap((isSent, place) => (isSent ? [place] : []))
  }

  private async sendTo(contact: NoticeContact, { facts, locales, cancels }: ContactNotice): Promise<boolean> {
    const { recovery, appName, languages, logger } = this.settings
    try {
      const cancelUrl = cancels && (await this.linkFor(cancels))
      const notice = composeNotice(
        { facts, appName, languages: languages.texts, ...(cancelUrl && { cancelUrl }) },
        locales,
      )
      await withTimeout(Promise.resolve(recovery?.onNotice(contact, notice)), SEND_TIMEOUT_MS)
      return true
    } catch (error) {
      logger.error(`countersign: the notice ${facts.type} was not sent to one of the user's contacts`, error)
      return false
    }
  }

  /** The link is built from the configured address, never from a request (R16). */
  private async linkFor({ until, ...subject }: NonNullable<ContactNotice['cancels']>): Promise<string> {
    const { publicUrl, path } = this.settings
    return `${publicUrl}${path}/cancel-recovery?token=${await this.links.issue(subject, until)}`
  }
}

/** Where a notice to a contact goes. */
function channelOf(contact: string): NoticeContact {
  return { channel: contact.startsWith('+') ? 'phone' : 'email', to: contact }
}

const subjectSchema = z.object({ userId: z.string(), recovery: z.string() })

/** The recovery that a link cancels. */
export type CancelSubject = Readonly<z.output<typeof subjectSchema>>

/** The links in notices that cancel a recovery, one for each message. */
export type CancelLinks = Pick<Links<CancelSubject>, 'issue' | 'find'>

export function cancelLinksIn(store: ItemStore): CancelLinks {
  return linksIn(store, 'recovery-link', subjectSchema)
}
