import type { Request } from 'express'
import type { Deps } from '../flows/deps.js'
import { composeNotice } from '../notices/compose.js'
import type { NoticeFacts } from '../notices/notice.js'
import type { ActiveState } from '../session/state.js'
import type { Settings } from '../settings.js'
import { browserName } from '../trust/browser-name.js'
import type { NotMeLinks } from '../trust/not-me-links.js'
import { localesOf } from './locale.js'
import { addressOf, locationOf } from './request.js'

/** What a notice is about, besides the request it came of. */
export type NoticeBody = Pick<NoticeFacts, 'type' | 'method' | 'to'>

/** What telling people needs. */
export type NotifyDeps = Pick<Deps, 'settings'> & { readonly notMeLinks?: NotMeLinks | undefined }

/**
 * Hands a notice to the host, if it wants any. Returns when the host has it; what the host does then, and what goes
 * wrong in it, delays and changes nothing.
 */
export async function notify(
  deps: NotifyDeps,
  req: Request,
  { user, userId }: Pick<ActiveState, 'user' | 'userId'>,
  body: NoticeBody,
): Promise<void> {
  const { settings, notMeLinks } = deps
  const { onNotice, logger } = settings
  if (!onNotice) return
  const lost = (error: unknown) => logger.error(`countersign: a notice (${body.type}) was not sent`, error)
  try {
    const facts = factsOf(req, settings, body)
    const notMeUrl = await notMeUrlFor({ settings, notMeLinks }, userId, facts)
    const { appName, texts: languages } = settings
    const letter = { facts, appName, languages, ...(notMeUrl && { notMeUrl }) }
    Promise.resolve(onNotice(user, composeNotice(letter, localesOf(req, settings)))).catch(lost)
  } catch (error) {
    lost(error)
  }
}

/** What a request tells of whoever sent it. */
export function factsOf(
  req: Request,
  settings: Pick<Settings, 'place' | 'logger'>,
  body: NoticeBody,
): NoticeFacts {
  const { browser, system } = browserName(req.get('user-agent'))
  const name = browser && system ? `${browser} on ${system}` : (browser ?? system)
  const location = locationOf(req, settings)
  const address = addressOf(req)
  return {
    ...body,
    at: Date.now(),
    ...(name && { browser: name }),
    ...(address && { address }),
    ...(location && { location }),
  }
}

/** The link, without which a notice still goes out. It is built of what the host configured, never of a request (R16). */
async function notMeUrlFor(
  { settings, notMeLinks }: NotifyDeps,
  userId: string,
  { at }: NoticeFacts,
): Promise<string | undefined> {
  const { publicUrl, path, logger } = settings
  if (!publicUrl || !notMeLinks) return undefined
  try {
    const token = await notMeLinks.issue({ userId, at })
    return `${publicUrl}${path}/not-me?token=${token}`
  } catch (error) {
    logger.error('countersign: a notice goes out without its link', error)
    return undefined
  }
}
