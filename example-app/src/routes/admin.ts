import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { backToForm } from '../http/back-to-form.js'
import { readBody } from '../http/body.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takePageMessage } from '../session.js'
import { resetRequests } from '../store/reset-requests.js'
import { adminPage, resetPage } from '../views/admin-page.js'

const text = (max: number) =>
  z.string({ error: 'must be text' }).trim().min(1, { error: 'must not be empty' }).max(max)

const order = z.object({ username: text(100), reason: text(500) })
const approval = z.object({ id: text(100) })

/**
 * `GET /admin`, `POST /admin/resets`, `POST /admin/resets/approve`: staff reset the account of a user who lost every second
 * factor. One member of staff asks for the reset, and another approves it after signing in. `POST /admin/act-as`, `POST /stop-acting`:
 * staff act for a customer, without a factor of the customer.
 */
export function adminRoutes(context: VaultContext): Router {
  const { config, users, mfa } = context
  const router = Router()
  // Without a public address, Vault has no recovery, and no resets.
  if (config.publicUrl === undefined) return router
  const requests = resetRequests()
  const staffOnly: RequestHandler = function staffOnly(req, _res, next) {
    const isStaff = config.staff.includes(customer(req).username)
    next(isStaff ? undefined : new Problem('not_found', 'There is no page at this address.'))
  }
  const maxAge = config.stepUpMaxAge
  // Staff need an authenticator app or a key. Those who have both show the key.
  const strong = mfa.requireMfa({ maxAge, minStrength: 'strong' })
  const strongest = mfa.requireStrongest({ maxAge })

  router.get('/admin', signedIn, staffOnly, strong, strongest, (req, res) => {
    res.send(adminPage(customer(req), requests.list(), takePageMessage(req), frameOf(req, context)))
  })

  router.post('/admin/resets', signedIn, staffOnly, strong, strongest, async (req, res) => {
    const { username, reason } = readBody(req, order)
    const user = await users.findByName(username)
    if (!user) throw new Problem('invalid_request', 'There is no user of this name.')
    const { id } = requests.add({ username: user.username, reason, by: customer(req).username })
    if (wantsJson(req)) res.json({ status: 'waiting_for_approval', id })
    else res.redirect(303, '/admin')
  })

  router.post('/admin/resets/approve', signedIn, staffOnly, strong, strongest, async (req, res) => {
    const approvedBy = customer(req).username
    const request = requests.takeToApprove(readBody(req, approval).id, approvedBy)
    const user = request && (await users.findByName(request.username))
    if (!request || !user) {
      throw new Problem('invalid_request', 'There is no such request that you could approve.')
    }
    const { by, reason } = request
    const bypass = await mfa.account.reset(user, { by, approvedBy, reason })
    if (wantsJson(req)) res.json(bypass)
    else res.send(resetPage(customer(req), request, bypass, frameOf(req, context)))
  })

  router.post('/admin/act-as', signedIn, staffOnly, strong, strongest, async (req, res) => {
    const { username, reason } = readBody(req, order)
    const user = await users.findByName(username)
    if (!user) throw new Problem('invalid_request', 'There is no user of this name.')
    await mfa.account.actAs(req, user, { reason, requireMfa: { minStrength: 'strong', maxAge } })
    if (wantsJson(req)) res.json({ status: 'acting' })
    else res.redirect(303, '/account')
  })

  // In the session that acts, the signed-in user is the customer.
  router.post('/stop-acting', signedIn, async (req, res) => {
    if (!req.mfa?.actor) throw new Problem('invalid_request', 'Nobody acts for this user.')
    await mfa.account.stopActing(req)
    if (wantsJson(req)) res.json({ status: 'stopped' })
    else res.redirect(303, '/admin')
  })

  router.use(['/admin/resets', '/admin/act-as'], backToForm('/admin'))

  return router
}
