import type { Request, Response, Router } from 'express'
import type * as z from 'zod'
import type { RouteDeps } from '../actions/deps.js'
import { linkTokenField, readBody } from '../http/body.js'
import { wantsHtml } from '../http/request.js'
import { linkBody, type notMeAnswer, type recoveryCancelAnswer } from '../http/schemas.js'
import type { View } from '../pages/view.js'
import { addPublicRoute } from './route.js'
import { showPublicPage, stop } from './stop-page.js'

type LinkAnswer = z.output<typeof notMeAnswer> | z.output<typeof recoveryCancelAnswer>

/** A link in a notice. Its user need not be signed in. */
export interface NoticeLink {
  /** Where the link leads, below the path of the routers. */
  readonly path: string
  /** The page that asks for confirmation. */
  readonly ask: 'not-me' | 'cancel-recovery'
  /** The page that follows. */
  readonly done: View
  /** What a JSON client learns afterwards. */
  readonly status: 'secured' | 'canceled'
  /** Whether the token is that of a live link. */
  isLive(token: string): Promise<boolean>
  /** Does what the link is for. Returns `false` if the link is not live (any more). */
  follow(req: Request, token: string): Promise<boolean>
}

/** `GET path?token=…` asks for confirmation, `POST path` follows the link. */
export function addNoticeLinkRoutes(router: Router, deps: RouteDeps, link: NoticeLink): void {
  addPublicRoute(router, deps, link.path, {
    get: (req, res) => ask(req, res, deps, link),
    post: (req, res) => follow(req, res, deps, link),
  })
}

async function ask(req: Request, res: Response, deps: RouteDeps, link: NoticeLink): Promise<void> {
  if (req.query.done !== undefined) return showPublicPage(req, res, deps, link.done)
  const token = linkTokenField.safeParse(req.query.token)
  if (!token.success || !(await link.isLive(token.data))) {
    return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  }
  if (wantsHtml(req)) return showPublicPage(req, res, deps, { page: link.ask, token: token.data })
  res.json({ status: 'open' } satisfies LinkAnswer)
}

async function follow(req: Request, res: Response, deps: RouteDeps, link: NoticeLink): Promise<void> {
  const body = await readBody(req, res, linkBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  if (!(await link.follow(req, body.fields.token))) {
    return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  }
  if (wantsHtml(req)) return res.redirect(303, `${deps.settings.path}${link.path}?done`)
  res.json({ status: link.status } satisfies LinkAnswer)
}
