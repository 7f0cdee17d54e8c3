import { type Request, type Response, Router } from 'express'
import type * as z from 'zod'
import { secureAccount } from '../flows/account-security.js'
import { linkTokenField, readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { localesOf } from '../http/locale.js'
import { factsOf } from '../http/notify.js'
import { wantsHtml } from '../http/request.js'
import { type notMeAnswer, notMeBody } from '../http/schemas.js'
import { composeNotice } from '../notices/compose.js'
import type { NotMeSubject } from '../trust/not-me-links.js'
import { addAssets } from './assets.js'
import { addPublicRoute } from './route.js'
import { showPublicPage, stop } from './stop-page.js'

/**
 * The "this wasn't me" link: `GET /not-me?token=…` asks for confirmation, `POST /not-me` ends all sessions and trusted devices
 * of the account whose notice had the link. The user need not be signed in. Without the option `publicUrl` there are no
 * links and no routes.
 */
export function buildNotMeRouter(deps: RouteDeps): Router {
  const router = Router()
  if (!deps.notMeLinks) return router
  addPublicRoute(router, deps, '/not-me', { get: ask, post: end })
  addAssets(router)
  return router
}

async function ask(req: Request, res: Response, deps: RouteDeps): Promise<void> {
  if (req.query.done !== undefined) return showPublicPage(req, res, deps, { page: 'secured' })
  const token = linkTokenField.safeParse(req.query.token)
  const about = token.success ? await deps.notMeLinks?.find(token.data) : undefined
  if (!about || !token.success) return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  if (wantsHtml(req)) return showPublicPage(req, res, deps, { page: 'not-me', token: token.data })
  res.json({ status: 'open' } satisfies z.output<typeof notMeAnswer>)
}

async function end(req: Request, res: Response, deps: RouteDeps): Promise<void> {
  const body = await readBody(req, res, notMeBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const { notMeLinks, settings } = deps
  const about = await notMeLinks?.find(body.fields.token)
  if (!about) return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  // The link is redeemed last, so that it can be used again if the store fails in between.
  await secureAccount(deps, about.userId)
  if (await notMeLinks?.redeem(body.fields.token)) await notifyHost(req, deps, about)
  if (wantsHtml(req)) return res.redirect(303, `${settings.path}/not-me?done`)
  res.json({ status: 'secured' } satisfies z.output<typeof notMeAnswer>)
}

async function notifyHost(
  req: Request,
  { settings }: RouteDeps,
  { userId, at }: NotMeSubject,
): Promise<void> {
  const facts = factsOf(req, settings, { type: 'account_secured' })
  const message = { facts, appName: settings.appName, languages: settings.texts }
  const notice = composeNotice(message, localesOrNone(req, settings))
  try {
    await settings.onCompromise?.({ userId, at: facts.at, noticedAt: at, notice })
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
