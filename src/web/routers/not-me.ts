import type { Request } from 'express'
import { secureAccount } from '../../flows/remove-factor.js'
import { composeNotice } from '../../pages/notices/compose.js'
import type { View } from '../../pages/view.js'
import { linkBody } from '../../routes/bodies.js'
import { type AnswerOf, getRoutePath } from '../../routes/routes.js'
import type { NotMeSubject } from '../../stores/trust/not-me-links.js'
import type { RouteDeps } from '../actions/context.js'
import { describeSender } from '../actions/notify.js'
import { readBody } from '../http/body.js'
import { listLocales, wantsHtml } from '../http/request.js'
import type { PublicHandler, RouteHandlers } from './route.js'
import { showPublicPage, stop } from './show-page.js'

/** Asks first, and then ends sessions and trust. No routes without `urls.publicUrl`. */
export function notMeRoutes(deps: RouteDeps): RouteHandlers<'notMeRouter'> | undefined {
  const { settings, notMeLinks } = deps
  if (settings.urls.publicUrl === undefined) return undefined
  const { ask, follow } = noticeLinkHandlers({
    path: getRoutePath('notMe'),
    ask: 'not-me',
    done: { page: 'secured' },
    status: 'secured',
    isLive: async (token) => (await notMeLinks.find(token)) !== undefined,
    async follow(req, token) {
      const subject = await notMeLinks.find(token)
      if (!subject) return false
      // The link is redeemed last, so that it can be used again if the store fails in between.
      await secureAccount(deps, subject.userId, 'not_me')
      // The browser of the notice stays unknown, so that the next sign-in in it is noticed, too.
      await deps.newBrowsers.forgetSince(subject.userId, subject.at - SIGN_IN_MS)
      if (await notMeLinks.redeem(token)) await notifyHost(req, deps, subject)
      return true
    },
  })
  return { notMe: ask, secure: follow }
}

/** How long before its notice a sign-in in a new browser can have been. */
const SIGN_IN_MS = 10_000

async function notifyHost(
  req: Request,
  { settings }: RouteDeps,
  { userId, at }: NotMeSubject,
): Promise<void> {
  const facts = describeSender(req, settings, { type: 'account_secured' })
  const message = { facts, appName: settings.appName, languages: settings.languages.texts }
  const notice = composeNotice(message, listLocalesOrNone(req, settings))
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
function listLocalesOrNone(req: Request, settings: RouteDeps['settings']): readonly string[] {
  try {
    return listLocales(req, settings)
  } catch (error) {
    settings.logger.error('countersign: languages.locale failed, so a notice is in English', error)
    return []
  }
}

type LinkAnswer = AnswerOf<'secure' | 'cancelRecoveryByLink'>

/** A link in a notice. Its user need not be signed in. */
export interface NoticeLink {
  /** Where the link leads, below the path of the routers. */
  readonly path: string
  /** The page that asks for confirmation. */
  readonly ask: 'not-me' | 'cancel-recovery'
  /** The page that follows. */
  readonly done: View
  /** The answer that a JSON client gets afterwards. */
  readonly status: 'secured' | 'canceled'
  /** Whether the token belongs to a live link. */
  isLive(token: string): Promise<boolean>
  /** Does what the link is for. Returns `false` if the link is not live (any more). */
  follow(req: Request, token: string): Promise<boolean>
}

/** The handlers of a link: `ask` shows the page that asks for confirmation, `follow` does what the link is for. */
export function noticeLinkHandlers(link: NoticeLink): Readonly<Record<'ask' | 'follow', PublicHandler>> {
  return {
    async ask(req, res, deps) {
      if (req.query.done !== undefined) return showPublicPage(req, res, deps, link.done)
      const token = linkBody.shape.token.safeParse(req.query.token)
      if (!token.success || !(await link.isLive(token.data))) {
        return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
      }
      if (wantsHtml(req)) return showPublicPage(req, res, deps, { page: link.ask, token: token.data })
      res.json({ status: 'open' } satisfies LinkAnswer)
    },
    async follow(req, res, deps) {
      const body = await readBody(req, res, linkBody)
      if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
      if (!(await link.follow(req, body.fields.token))) {
        return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
      }
      if (wantsHtml(req)) return res.redirect(303, `${deps.settings.urls.path}${link.path}?done`)
      res.json({ status: link.status } satisfies LinkAnswer)
    },
  }
}
