import * as z from 'zod'
import { answerNo, ignore, nothing } from '../no-op.js'
import type { EndedFactor } from '../options/recovery.js'
import type { NoticeFacts, NoticeType } from '../pages/notices/notice.js'
import { formatUser } from '../protocol/contact.js'
import { type Factor, findStrongest, getStrength, isAtLeast, type ShownMethod } from '../protocol/factor.js'
import type { MfaRecord } from '../session/record.js'
import type { Account } from '../session/state.js'
import type { SendPermit } from '../stores/limits/budgets.js'
import type { ItemStore } from '../stores/store.js'
import { createLinks, type Links } from '../stores/trust/links.js'
import {
  createRecoveries,
  getExpiry,
  getReadyTime,
  hasUnreached,
  isReady,
  type Recoveries,
  type Recovery,
} from '../stores/trust/recoveries.js'
import { type BypassCode, createResets, newBypassCode, type Resets } from '../stores/trust/resets.js'
import { notifyContacts } from './contact-notices.js'
import type { Deps } from './deps.js'
import { revokeDevices } from './remove-factor.js'

/** The parts that a recovery works with. */
export type RecoveryDeps = Pick<Deps, 'settings' | 'sessionsValidAfter' | 'devices' | 'emit'>

/** How a recovery was canceled. */
export type CanceledBy = 'link' | 'user' | 'strong_factor'

/** The facts that a request tells about its sender, for the notice. */
export type Sender = Pick<NoticeFacts, 'browser' | 'address' | 'location'>

/** A request for a recovery. */
export interface RecoveryRequest {
  readonly userId: string
  /** Every contact of the account: email addresses, and phone numbers in E.164 format. */
  readonly contacts: readonly string[]
  readonly locales: readonly string[]
  readonly from: Sender
  /** Counts the recovery among the user's messages before it is started, or says how long to wait. */
  permit(recoveryId: string): Promise<SendPermit>
}

/** The outcome of a request. */
export type Requested =
  | { readonly outcome: 'pending'; readonly recovery: Recovery }
  /** No contact could be notified, so nothing was started. */
  | { readonly outcome: 'not_notified' }
  | { readonly outcome: 'too_many'; readonly retryAfterSeconds: number }

/** The account whose recovery is completed. */
type RecoveredAccount = Pick<Account, 'user' | 'userId'>

/** Who resets an account, why, and who is notified. */
export interface ResetOrder {
  readonly by: string
  readonly approvedBy?: string
  readonly reason: string
  /** Whether every app, key and backup code ends, also one that is not known yet. */
  readonly endsAll: boolean
  readonly contacts: readonly string[]
  readonly locales: readonly string[]
}

const resetRequestSchema = z.object({
  /** Who requested it. */
  by: z.string(),
  /** Whose account, as Passport serialized the user. */
  user: z.unknown(),
  reason: z.string(),
  factors: z.array(z.string()).readonly().optional(),
})

const subjectSchema = z.object({ userId: z.string(), recovery: z.string() })

/** The recovery that a link cancels. */
type CancelSubject = z.output<typeof subjectSchema>

/** How often this process looks for notices that are due. */
const LOOK_EVERY_MS = 60_000

/** Account recovery after a waiting period (R94). */
export class AccountRecovery {
  readonly resets: Resets
  /** The resets that wait for the approval of another member of staff. */
  readonly resetRequests: Links<z.output<typeof resetRequestSchema>>
  private readonly deps: RecoveryDeps
  private readonly recoveries: Recoveries
  private readonly links: Links<CancelSubject>
  private lookedAt = Number.NEGATIVE_INFINITY

  constructor(store: ItemStore, deps: RecoveryDeps) {
    this.deps = deps
    this.recoveries = createRecoveries(store)
    this.resets = createResets(store)
    this.resetRequests = createLinks(store, 'reset-request', resetRequestSchema)
    this.links = createLinks(store, 'recovery-link', subjectSchema)
  }

  /** The user's pending recovery. Sends a notice that is due first, in case no process was running when it was. */
  async find(userId: string): Promise<Recovery | undefined> {
    await this.sendDueTo(userId)
    return this.recoveries.find(userId)
  }

  /** The contacts that are known not to have got the first notice of a recovery. */
  async unreached(userId: string, recovery: Recovery): Promise<readonly string[]> {
    if (!hasUnreached(recovery)) return []
    const contacts = await this.recoveries.contactsOf(userId, recovery)
    return contacts.filter((_, place) => !recovery.reached?.includes(place))
  }

  /** Starts a recovery and notifies every contact, or returns the one that is pending. */
  async request({ userId, contacts, locales, from, permit }: RecoveryRequest): Promise<Requested> {
    const waitMs = this.deps.settings.recovery?.waitingPeriodMs ?? 0
    const { recovery, isNew } = await this.recoveries.begin(userId, { waitMs, contacts, locales })
    if (!isNew) return { outcome: 'pending', recovery }
    const permitted = await permit(recovery.id)
    if (!permitted.ok) {
      await this.recoveries.end(userId, recovery)
      return { outcome: 'too_many', retryAfterSeconds: permitted.retryAfterSeconds }
    }
    await this.sendDueTo(userId, from)
    const notified = await this.recoveries.find(userId)
    if (notified?.id === recovery.id && notified.noticesAt.length === 0) {
      await this.recoveries.end(userId, recovery)
      return { outcome: 'not_notified' }
    }
    const started = notified ?? recovery
    this.deps.emit({ type: 'recovery_requested', userId, readyAt: getReadyTime(started) })
    return { outcome: 'pending', recovery: started }
  }

  /** The recovery that the link in a notice cancels, if it is still pending. */
  async findByToken(token: string): Promise<CancelSubject | undefined> {
    const subject = await this.links.find(token)
    const recovery = subject && (await this.recoveries.find(subject.userId))
    return recovery && recovery.id === subject?.recovery ? subject : undefined
  }

  /** Cancels the pending recovery, or only the one with this id, and notifies every contact. Returns whether there was one. */
  async cancel(userId: string, by: CanceledBy, id?: string): Promise<boolean> {
    const recovery = await this.recoveries.find(userId)
    if (!recovery || (id !== undefined && recovery.id !== id)) return false
    const contacts = await this.recoveries.contactsOf(userId, recovery)
    if (!(await this.recoveries.end(userId, recovery))) return false
    this.deps.emit({ type: 'recovery_canceled', userId, by })
    await this.tell('recovery_canceled', contacts, recovery.locales)
    return true
  }

  /** Completes a recovery: ends factors, sessions and trust, and notifies. One caller gets what its session goes on with. */
  async complete(
    account: RecoveredAccount,
    recovery: Recovery,
    ended: readonly Factor[],
  ): Promise<Pick<MfaRecord, 'mustEnroll' | 'lastEnd'> | undefined> {
    const { userId } = account
    const contacts = await this.recoveries.contactsOf(userId, recovery)
    if (!(isReady(recovery) && (await this.recoveries.end(userId, recovery)))) return undefined
    const mustEnroll = await this.resets.open(userId, 'recovery', ended)
    const lastEnd = await this.endAccess(account, ended, 'recovery')
    this.deps.emit({ type: 'recovery_completed', userId, methods: ended.map(({ method }) => method) })
    await this.tell('recovery_completed', contacts, recovery.locales)
    return { mustEnroll, lastEnd }
  }

  /** The same for staff, at once. Until a new factor is set up, only the returned code opens the account. */
  async reset(account: RecoveredAccount, ended: readonly Factor[], about: ResetOrder): Promise<BypassCode> {
    const { userId } = account
    const { contacts, locales, endsAll, ...order } = about
    const pending = await this.recoveries.find(userId)
    if (pending) await this.recoveries.end(userId, pending)
    const bypass = newBypassCode()
    await this.resets.open(userId, 'help_desk', ended, { ...bypass, endsAll })
    await this.endAccess(account, ended, 'help_desk')
    this.deps.emit({ type: 'account_reset', userId, ...order, methods: ended.map(({ method }) => method) })
    await this.tell('account_reset', contacts, locales)
    return bypass
  }

  /** A new factor ends the recovery. `closes`: the open reset waited for it, so its other sessions end (R135). Returns that end. */
  async enrolled(userId: string, closes: boolean): Promise<string | undefined> {
    const lastEnd = closes ? await this.deps.sessionsValidAfter.set(userId, 'reset') : undefined
    if (closes) await this.resets.close(userId)
    await this.cancel(userId, 'strong_factor')
    return lastEnd
  }

  /** Sends the notices of all users that are due. Returns how many recoveries had one. */
  async sendDueNotices(): Promise<number> {
    this.lookedAt = Date.now()
    const users = await this.recoveries.due()
    const sent = await Promise.all(users.map((userId) => this.sendDueTo(userId)))
    return sent.filter(Boolean).length
  }

  /** Looks for notices that are due, at most once a minute in this process. Does not wait, and never fails. */
  lookForDueNotices(): void {
    if (Math.abs(Date.now() - this.lookedAt) < LOOK_EVERY_MS) return
    this.sendDueNotices().catch((error: unknown) =>
      this.deps.settings.logger.error('countersign: notices of recoveries could not be looked up', error),
    )
  }

  /** Ends all sessions and trusted devices, and has the host remove the factors. Returns the end of the sessions. */
  private async endAccess(
    { user, userId }: RecoveredAccount,
    ended: readonly Factor[],
    why: 'recovery' | 'help_desk',
  ): Promise<string> {
    const { settings, sessionsValidAfter } = this.deps
    // Sessions first: a device that one of them trusts in the meantime is void already.
    const lastEnd = await sessionsValidAfter.set(userId, why === 'recovery' ? 'recovery' : 'reset')
    await revokeDevices(this.deps, userId, why)
    try {
      await settings.recovery?.onFactorsEnded(user, ended.map(createEndedFactor))
    } catch (error) {
      settings.logger.error(
        'countersign: recovery.onFactorsEnded failed; the factors do not count until the user sets up a new one',
        error,
      )
    }
    return lastEnd
  }

  /** Sends the user's next notice if it is due. Every process may call this at once; one sends it. */
  private async sendDueTo(userId: string, from: Sender = {}): Promise<boolean> {
    const claimed = await this.recoveries.claimNotice(userId)
    if (!claimed) return false
    const contacts = await this.recoveries.contactsOf(userId, claimed)
    const isFirst = claimed.noticesAt.length === 1
    // The link works as long as the recovery lives if no contact is reached.
    const until = getExpiry({ ...claimed, reached: [] })
    const sent = await notifyContacts(this.deps.settings, {
      facts: {
        type: isFirst ? 'recovery_requested' : 'recovery_reminder',
        at: claimed.requestedAt,
        // Of the first notice, the earliest time: who is reached is not known yet.
        readyAt: getReadyTime(claimed),
        ...from,
      },
      locales: claimed.locales,
      contacts,
      cancelUrl: () => this.cancelUrl({ userId, recovery: claimed.id }, until),
    })
    if (sent.length === 0) {
      await this.recoveries.returnNotice(userId, claimed)
      return false
    }
    if (isFirst) await this.recoveries.setReached(userId, claimed, sent)
    else this.deps.emit({ type: 'recovery_reminded', userId })
    return true
  }

  /** The link is built from the configured address, never from a request (R16). */
  private async cancelUrl(subject: CancelSubject, until: number): Promise<string> {
    const { publicUrl, path } = this.deps.settings.urls
    return `${publicUrl}${path}/cancel-recovery?token=${await this.links.issue(subject, until)}`
  }

  private async tell(
    type: NoticeType,
    contacts: readonly string[],
    locales: readonly string[],
  ): Promise<void> {
    await notifyContacts(this.deps.settings, { facts: { type, at: Date.now() }, locales, contacts })
  }
}

/** The pending recoveries, for everything but the routes of a recovery. */
export type PendingRecoveries = Pick<
  AccountRecovery,
  'find' | 'cancel' | 'enrolled' | 'sendDueNotices' | 'lookForDueNotices'
>

/** For an app without recovery, in which none is pending. */
export const NO_RECOVERIES: PendingRecoveries = {
  find: nothing,
  cancel: answerNo,
  enrolled: nothing,
  sendDueNotices: async () => 0,
  lookForDueNotices: ignore,
}

/** The factors that a recovery would end: the strongest ones, if what was shown is weaker. */
export function listFactorsToEnd(
  factors: readonly Factor[],
  shown: readonly ShownMethod[],
): readonly Factor[] {
  const strongest = findStrongest(factors.map(({ method }) => method))
  if (shown.some((method) => isAtLeast(method, strongest))) return []
  return factors.filter(({ method }) => getStrength(method) === strongest)
}

function createEndedFactor({ id, method, contact, unusable }: Factor): EndedFactor {
  return { id, method, contact: unusable?.listed ?? formatUser(contact) }
}
