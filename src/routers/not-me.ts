import type { Request, Router } from 'express'
import type { RouteDeps } from '../actions/deps.js'
import { factsOf } from '../actions/notify.js'
import { secureAccount } from '../flows/account-security.js'
import { localesOf } from '../http/locale.js'
import { composeNotice } from '../notices/compose.js'
import type { NotMeSubject } from '../trust/not-me-links.js'
import { addNoticeLinkRoutes } from './notice-link.js'

/**
 * The "this wasn't me" link: `GET /not-me?token=…` asks for confirmation, `POST /not-me` ends all sessions and trusted devices
 * of the account whose notice had the link. Without the option `publicUrl` there are no links and no routes.
 */
export function addNotMeRoutes(router: Router, deps: RouteDeps): void {
  const { notMeLinks } = deps
  if (!notMeLinks) return
  addNoticeLinkRoutes(router, deps, {
    path: '/not-me',
    ask: 'not-me',
    done: { page: 'secured' },
    status: 'secured',
    isLive: async (token) => (await notMeLinks.find(token)) !== undefined,
    async follow(req, token) {
      const subject = await notMeLinks.find(token)
      if (!subject) return false
      // The link is redeemed last, so that it can be used again if the store fails in between.
      await secureAccount(deps, subject.userId)
      if (await notMeLinks.redeem(token)) await notifyHost(req, deps, subject)
      return true
    },
  })
}

async function notifyHost(
  req: Request,
  { settings }: RouteDeps,
  { userId, at }: NotMeSubject,
): Promise<void> {
  const facts = factsOf(req, settings, { type: 'account_secured' })
  const message = { facts, appName: settings.appName, languages: settings.languages.texts }
  const notice = composeNotice(message, localesOrNone(req, settings))
  try {
    await settings.notices.onCompromise?.({ userId, at: facts.at, noticedAt: at, notice })
  } catch (error) {
    settings.logger.error(
      'countersign: onCompromise failed; sessions and trusted devices were ended nevertheless',
      error,
    )
  }
}

/** The host must hear of a compromised account even if its `locale` fails; the notice is then in English. */
function localesOrNone(req: Request, settings: RouteDeps['settings']): readonly string[] {
  try {
    return localesOf(req, settings)
  } catch (error) {
    settings.logger.error('countersign: languages.locale failed, so a notice is in English', error)
    return []
  }
}
