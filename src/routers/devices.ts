import { Router } from 'express'
import type * as z from 'zod'
import type { Account } from '../session/trusted-browsers.js'
import { deviceField, readBody } from '../visit/body.js'
import type { Browsers } from '../visit/browsers.js'
import type { DoorDeps } from '../visit/deps.js'
import { sendProblem } from '../visit/problem.js'
import { type devicesAnswer, revokeBody, type revokedAnswer } from '../visit/wire.js'
import { addAssets } from './assets.js'
import { sendRefusal, showPage } from './reply.js'
import { addRoute, type Handler, stop } from './route.js'
import type { Visitor } from './visitor.js'

type Revoked = z.output<typeof revokedAnswer>

/**
 * `GET /devices` lists the trusted devices, `DELETE /devices/:id` and `DELETE /devices` forget one or all. Browsers
 * without scripts post to `/devices/revoke` and `/devices/revoke-all`. Without trusted devices there are no routes.
 */
export function buildDevicesRouter(deps: DoorDeps): Router {
  const router = Router()
  const { browsers } = deps
  if (!browsers) return router
  const forSignedIn =
    (handler: (visitor: Visitor, browsers: Browsers) => Promise<void>): Handler =>
    (visitor) =>
      visitor.known.stage === 'pending'
        ? sendRefusal(visitor, { code: 'mfa_required' })
        : handler(visitor, browsers)

  addRoute(router, deps, '/devices', { get: forSignedIn(show), delete: forSignedIn(revokeAll) })
  addRoute(router, deps, '/devices/revoke', { post: forSignedIn(revokePosted) })
  addRoute(router, deps, '/devices/revoke-all', { post: forSignedIn(revokeAll) })
  addRoute(router, deps, '/devices/:device', { delete: forSignedIn(revokeNamed) })
  addAssets(router)
  return router
}

async function show(visitor: Visitor, browsers: Browsers): Promise<void> {
  const { req, res, html } = visitor
  const devices = await browsers.list(req, accountOf(visitor))
  if (html) {
    const { revoked } = req.query
    const code = revoked === 'all' ? 'devices_revoked' : 'device_revoked'
    return showPage(visitor, { page: 'devices', devices }, revoked ? { tone: 'success', code } : undefined)
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

async function revokePosted(visitor: Visitor, browsers: Browsers): Promise<void> {
  const { req, res, deps } = visitor
  const body = await readBody(req, res, revokeBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  await revoke(visitor, browsers, body.fields.device)
}

async function revokeNamed(visitor: Visitor, browsers: Browsers): Promise<void> {
  const named = deviceField.safeParse(visitor.req.params.device)
  await revoke(visitor, browsers, named.data ?? '')
}

async function revoke(visitor: Visitor, browsers: Browsers, device: string): Promise<void> {
  const { req, res, known, html } = visitor
  const wasThere = await browsers.revoke(req, known.userId, device)
  // On a page that was open for long, a device that is gone already is what the person wanted.
  if (html) return backToList(visitor, 'one')
  if (!wasThere) return sendProblem(res, { code: 'unknown_device' })
  res.json({ status: 'revoked', count: 1 } satisfies Revoked)
}

async function revokeAll(visitor: Visitor, browsers: Browsers): Promise<void> {
  const { res, known, html } = visitor
  const count = await browsers.revokeAll(known.userId)
  if (html) return backToList(visitor, 'all')
  res.json({ status: 'revoked', count } satisfies Revoked)
}

function backToList({ res, deps }: Visitor, revoked: 'one' | 'all'): void {
  res.redirect(303, `${deps.settings.path}/devices?revoked=${revoked}`)
}

function accountOf({ known, person }: Visitor): Account {
  return { user: known.user, userId: known.userId, factors: person.factors }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
