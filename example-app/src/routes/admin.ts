import { type BypassCode, mfaAccount, requireMfa } from 'countersign'
import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { readBody } from '../http/body.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { customer, signedIn } from '../http/signed-in.js'
import { adminPage } from '../views/admin-page.js'

const text = (max: number) =>
  z.string({ error: 'must be text' }).trim().min(1, { error: 'must not be empty' }).max(max)

const order = z.object({ username: text(100), reason: text(500), approvedBy: text(100) })

/** `GET /admin`, `POST /admin/reset`: staff reset the account of a user who lost every second factor. */
export function adminRoutes(context: VaultContext): Router {
  const { config, users, mfa } = context
  const router = Router()
  if (!mfa.recovery) return router
  const account = mfaAccount(mfa)
  const staffOnly: RequestHandler = function staffOnly(req, _res, next) {
    const isStaff = config.staff.includes(customer(req).username)
    next(isStaff ? undefined : new Problem('not_found', 'There is no page at this address.'))
  }
  const strong = requireMfa({ maxAge: config.stepUpMaxAge, minStrength: 'strong' })

  router.get('/admin', signedIn, staffOnly, strong, (req, res) => {
    res.send(adminPage(customer(req), undefined, frameOf(req, context)))
  })

  router.post('/admin/reset', signedIn, staffOnly, strong, async (req, res) => {
    const { username, reason, approvedBy } = readBody(req, order)
    const user = await users.findByName(username)
    if (!user) throw new Problem('invalid_request', 'There is no user of this name.')
    const by = customer(req).username
    // A real app would have the second person confirm in a session of their own.
    const approver = await users.findByName(approvedBy)
    if (!approver || approver.username === by || !config.staff.includes(approver.username)) {
      throw new Problem('invalid_request', 'Another member of staff must approve the reset.')
    }
    const bypass: BypassCode = await account.reset(user, { by, approvedBy: approver.username, reason })
    if (wantsJson(req)) res.json(bypass)
    else res.send(adminPage(customer(req), { username: user.username, ...bypass }, frameOf(req, context)))
  })

  return router
}
