import type { Request } from 'express'
import { notifyContacts } from '../../flows/contact-notices.js'
import type { Refused } from '../../flows/deps.js'
import { readObject } from '../../json.js'
import type { Settings } from '../../options/settings.js'
import { composeNotice } from '../../pages/notices/compose.js'
import type { NoticeFacts } from '../../pages/notices/notice.js'
import { formatUser, parseUser } from '../../protocol/contact.js'
import type { Factor } from '../../protocol/factor.js'
import { maskForOwner } from '../../protocol/masked-contact.js'
import type { ActiveState } from '../../session/state.js'
import { pickGiven } from '../../shape.js'
import { describeBrowser } from '../http/browser.js'
import { getAddress, listLocales } from '../http/request.js'
import type { RequestContext } from './context.js'

/** The subject of a notice, besides the request that caused it. */
export type NoticeBody = Pick<NoticeFacts, 'type' | 'method' | 'to' | 'keyName'>

/** The parts that notices need. */
export type NotifyDeps = Pick<RequestContext['deps'], 'settings' | 'notMeLinks'>

/** The request that caused a notice, and the user who gets it. */
interface Notified extends Pick<RequestContext, 'req'> {
  readonly deps: NotifyDeps
  readonly state: Pick<ActiveState, 'user' | 'userId'>
}

/** Passes a notice to `notices.onNotice`, if that is set. Nothing waits for it; a failure is logged. */
export async function notify({ req, deps, state }: Notified, body: NoticeBody): Promise<void> {
  const { settings } = deps
  const { appName, languages, notices } = settings
  const { onNotice } = notices
  if (!onNotice) return
  const logFailure = (error: unknown) => logNotSent(settings, body, error)
  try {
    const facts = describeSender(req, settings, body)
    const notMeUrl = await notMeUrlFor(deps, state.userId, facts)
    const message = { facts, appName, languages: languages.texts, ...(notMeUrl && { notMeUrl }) }
    Promise.resolve(onNotice(state.user, composeNotice(message, listLocales(req, settings)))).catch(
      logFailure,
    )
  } catch (error) {
    logFailure(error)
  }
}

/** Notifies of wrong codes (R34) and of a disabled factor (R96). */
export async function notifyOfRefusal(at: Notified, { disabled, repeated }: Refused): Promise<void> {
  if (disabled) {
    const { method, contact } = disabled
    const to = maskForOwner(contact)
    const isBackup = method === 'backup'
    await notify(
      at,
      isBackup ? { type: 'backup_codes_disabled', to } : { type: 'factor_disabled', method, to },
    )
  }
  if (repeated) await notify(at, { type: 'repeated_failures' })
}

function logNotSent({ logger }: Pick<Settings, 'logger'>, { type }: NoticeBody, error: unknown): void {
  logger.error(`countersign: the account notice ${type} was not sent`, error)
}

/** The facts about the sender of a request: browser, address and location. */
export function describeSender(
  req: Request,
  settings: Pick<Settings, 'location' | 'logger'>,
  body: NoticeBody,
): NoticeFacts {
  const { browser, system, location } = describeBrowser(req, settings)
  const name = browser && system ? `${browser} on ${system}` : (browser ?? system)
  const sender = { browser: name, address: getAddress(req), location }
  return { ...body, at: Date.now(), ...pickGiven(sender) }
}

/** The "this wasn't me" link. It is built from the configured address, never from a request (R16). */
async function notMeUrlFor(
  { settings, notMeLinks }: NotifyDeps,
  userId: string,
  { at }: NoticeFacts,
): Promise<string | undefined> {
  const { urls, logger } = settings
  try {
    const token = await notMeLinks.issue({ userId, at })
    return token && `${urls.publicUrl}${urls.path}/not-me?token=${token}`
  } catch (error) {
    logger.error(`countersign: an account notice is sent without its "this wasn't me" link`, error)
    return undefined
  }
}

/** The email addresses and phone numbers of an account: of its factors, `appContact` and `recovery.contacts`. */
export function listContacts(
  { appContact, recovery }: Pick<Settings, 'appContact' | 'recovery'>,
  user: Express.User,
  factors: readonly Factor[],
): readonly string[] {
  const main: unknown = appContact ? appContact(user) : readObject(user).email
  const more = [main, ...(recovery?.contacts?.(user) ?? [])].flatMap((address) => {
    const contact = typeof address === 'string' ? parseUser(address) : undefined
    return contact ? [contact] : []
  })
  const usable = factors.filter(({ unusable }) => !unusable).map(({ contact }) => contact)
  const channels = [...usable, ...more].flatMap((contact) =>
    contact.kind === 'dual' ? [contact.email, contact.phone] : [formatUser(contact)],
  )
  return [...new Set(channels)]
}

/** As `notify`, to every contact of the account if the app offers recovery. */
export async function notifyEveryContact(context: RequestContext, body: NoticeBody): Promise<void> {
  const { req, deps, state, user } = context
  const { settings } = deps
  if (!settings.recovery) return notify(context, body)
  try {
    const contacts = listContacts(settings, state.user, user.existing)
    void notifyContacts(settings, {
      facts: describeSender(req, settings, body),
      contacts,
      locales: user.locales,
    })
  } catch (error) {
    logNotSent(settings, body, error)
  }
}
