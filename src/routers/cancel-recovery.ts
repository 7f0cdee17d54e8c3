import { type Request, type Response, Router } from 'express'
import type * as z from 'zod'
import { linkTokenField, readBody } from '../http/body.js'
import type { RouteDeps } from '../http/deps.js'
import { wantsHtml } from '../http/request.js'
import { cancelRecoveryBody, type recoveryCancelAnswer } from '../http/schemas.js'
import { addAssets } from './assets.js'
import { addPublicRoute } from './route.js'
import { showPublicPage, stop } from './stop-page.js'

/**
 * The link in the notices of a recovery: `GET /cancel-recovery?token=…` asks for confirmation, `POST /cancel-recovery` cancels
 * the recovery. The user need not be signed in. Without the option `recovery` there are no routes.
 */
export function buildCancelRecoveryRouter(deps: RouteDeps): Router {
  const router = Router()
  if (!deps.settings.recovery?.selfService) return router
  addPublicRoute(router, deps, '/cancel-recovery', { get: ask, post: cancel })
  addAssets(router)
  return router
}

async function ask(req: Request, res: Response, deps: RouteDeps): Promise<void> {
  if (req.query.done !== undefined) return showPublicPage(req, res, deps, { page: 'recovery-canceled' })
  const token = linkTokenField.safeParse(req.query.token)
  const found = token.success ? await deps.recovery?.findByToken(token.data) : undefined
  if (!found || !token.success) return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  if (wantsHtml(req)) return showPublicPage(req, res, deps, { page: 'cancel-recovery', token: token.data })
  res.json({ status: 'open' } satisfies z.output<typeof recoveryCancelAnswer>)
}

async function cancel(req: Request, res: Response, deps: RouteDeps): Promise<void> {
  const body = await readBody(req, res, cancelRecoveryBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const found = await deps.recovery?.findByToken(body.fields.token)
  const isCanceled = found && (await deps.recovery?.cancel(found.userId, 'link', found.recovery))
  if (!isCanceled) return stop(req, res, deps, { code: 'unknown_link' }, 'sign-in')
  if (wantsHtml(req)) return res.redirect(303, `${deps.settings.path}/cancel-recovery?done`)
  res.json({ status: 'canceled' } satisfies z.output<typeof recoveryCancelAnswer>)
}
