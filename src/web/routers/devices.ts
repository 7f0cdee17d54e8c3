import type { Router } from 'express'
import type * as z from 'zod'
import { iso } from '../../time.js'
import type { RouteDeps } from '../actions/context.js'
import type { devicesAnswer, revokedAnswer } from '../http/answers.js'
import { revokeBody } from '../http/bodies.js'
import { readBody } from '../http/body.js'
import { sendProblem } from '../http/problem.js'
import type { RouteContext } from './context.js'
import { sendRefusal, showPage, stop } from './respond.js'
import { addRoute, type Handler } from './route.js'

type Revoked = z.output<typeof revokedAnswer>

/** `GET /devices` lists trusted devices; `DELETE /devices[/:id]` and the forms at `/devices/revoke` revoke. */
export function addDevicesRoutes(router: Router, deps: RouteDeps): void {
  if (!deps.settings.trustedDevices) return
  const forSignedIn =
    (handler: (context: RouteContext) => Promise<void>): Handler =>
    (context) =>
      context.state.stage === 'pending' ? sendRefusal(context, { code: 'mfa_required' }) : handler(context)

  addRoute(router, deps, '/devices', { get: forSignedIn(show), delete: forSignedIn(revokeAll) })
  addRoute(router, deps, '/devices/revoke', { post: forSignedIn(revokePosted) })
  addRoute(router, deps, '/devices/revoke-all', { post: forSignedIn(revokeAll) })
  addRoute(router, deps, '/devices/:device', { delete: forSignedIn(revokeNamed) })
}

async function show(context: RouteContext): Promise<void> {
  const { req, res, deps, state, user, html } = context
  const owner = { user: state.user, userId: state.userId, factors: user.factors }
  const devices = await deps.browsers.list(context, owner)
  if (html) {
    const { revoked } = req.query
    const code = revoked === 'all' ? 'devices_revoked' : 'device_revoked'
    return showPage(context, { page: 'devices', devices }, revoked ? { tone: 'success', code } : undefined)
  }
  const answer: z.output<typeof devicesAnswer> = {
    devices: devices.map(({ id, browser, system, createdAt, lastUsedAt, expiresAt, ...device }) => ({
      id,
      name: [browser, system].filter(Boolean).join(' on ') || 'Unknown browser',
      ...device,
      createdAt: iso(createdAt),
      lastUsedAt: iso(lastUsedAt),
      expiresAt: iso(expiresAt),
    })),
  }
  res.json(answer)
}

async function revokePosted(context: RouteContext): Promise<void> {
  const { req, res, deps } = context
  const body = await readBody(req, res, revokeBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  await revoke(context, body.fields.device)
}

async function revokeNamed(context: RouteContext): Promise<void> {
  const named = revokeBody.shape.device.safeParse(context.req.params.device)
  await revoke(context, named.data ?? '')
}

async function revoke(context: RouteContext, device: string): Promise<void> {
  const { res, deps, state, html } = context
  const wasThere = await deps.browsers.revoke(context, state.userId, device)
  // The page may be outdated: a device that is already revoked is what the user wanted.
  if (html) return backToList(context, 'one')
  if (!wasThere) return sendProblem(res, { code: 'unknown_device' })
  res.json({ status: 'revoked', count: 1 } satisfies Revoked)
}

async function revokeAll(context: RouteContext): Promise<void> {
  const { res, deps, state, html } = context
  const count = await deps.browsers.revokeAll(state.userId)
  if (html) return backToList(context, 'all')
  res.json({ status: 'revoked', count } satisfies Revoked)
}

function backToList({ res, deps }: RouteContext, revoked: 'one' | 'all'): void {
  res.redirect(303, `${deps.settings.urls.path}/devices?revoked=${revoked}`)
}
