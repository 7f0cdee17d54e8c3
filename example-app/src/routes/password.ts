import { mfaAccount, requireMfa } from 'countersign'
import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { aroundOf } from '../http/around.js'
import { readBody } from '../http/body.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { customer, signedIn } from '../http/signed-in.js'
import { factorsOf } from '../mfa.js'
import { takeNotice } from '../session.js'
import { passwordPage } from '../views/password-page.js'

const MIN_LENGTH = 8

const change = z.object({
  current: z.string({ error: 'must be text' }).min(1, { error: 'must not be empty' }).max(200),
  next: z
    .string({ error: 'must be text' })
    .min(MIN_LENGTH, { error: `must have at least ${MIN_LENGTH} characters` })
    .max(200),
})

/** `GET /password`, `POST /password` */
export function passwordRoutes(context: VaultContext): Router {
  const { config, users, signInFailures, mfa } = context
  const account = mfaAccount(mfa)
  const router = Router()

  const fresh = requireMfa({ maxAge: config.stepUpMaxAge })
  // Somebody without a second factor can still change their password; the guard would send them away.
  const freshIfAny: RequestHandler = function freshIfAny(req, res, next) {
    return factorsOf(customer(req)).length > 0 ? fresh(req, res, next) : next()
  }

  router.get('/password', signedIn, freshIfAny, (req, res) => {
    res.send(passwordPage(customer(req), takeNotice(req), aroundOf(req, context)))
  })

  router.post('/password', signedIn, freshIfAny, async (req, res) => {
    const { current, next } = readBody(req, change)
    const user = customer(req)
    const address = req.ip ?? ''
    const wait = await signInFailures.waitSeconds(user.username, address)
    if (wait > 0) throw new Problem('too_many_attempts', 'Too many wrong passwords. Try again later.', wait)
    if (!(await users.signIn(user.username, current))) {
      await signInFailures.note(user.username, address)
      throw new Problem('wrong_password', 'That is not your current password.')
    }
    if (current === next) throw new Problem('invalid_request', 'The new password is the old one.')

    const changed = await users.changePassword(user.id, next)
    req.session.notice = {
      tone: 'success',
      text: 'Your password is changed. Every other browser has to sign in again.',
    }
    // This session gets another id and stays what it is, now with the new password's version in it; all the others
    // hold a version that is past.
    await account.renewSession(req, changed)
    if (wantsJson(req)) res.json({ status: 'changed', next: '/account' })
    else res.redirect(303, '/account')
  })

  return router
}
