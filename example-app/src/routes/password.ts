import { Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { backToForm } from '../http/back-to-form.js'
import { readBody } from '../http/body.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takePageMessage } from '../session.js'
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
  const router = Router()
  // A user without a second factor can change the password, too; `requireMfa` would refuse that.
  const strongest = mfa.requireStrongest({ maxAge: config.stepUpMaxAge })

  router.get('/password', signedIn, strongest, (req, res) => {
    res.send(passwordPage(customer(req), takePageMessage(req), frameOf(req, context)))
  })

  router.post('/password', signedIn, strongest, async (req, res) => {
    const { current, next } = readBody(req, change)
    const user = customer(req)
    const address = req.ip ?? ''
    const wait = await signInFailures.waitSeconds(user.username, address)
    if (wait > 0) throw new Problem('too_many_attempts', 'Too many wrong passwords. Try again later.', wait)
    if (!(await users.signIn(user.username, current))) {
      await signInFailures.record(user.username, address)
      throw new Problem('wrong_password', 'That is not your current password.')
    }
    if (current === next)
      throw new Problem('invalid_request', 'Choose a password that is not the current one.')

    const changed = await users.changePassword(user.id, next)
    req.session.pageMessage = {
      tone: 'success',
      text: 'Your password is changed. You are signed out in every other browser.',
    }
    // This session gets another id and the version of the new password; all other sessions have an older version.
    await mfa.account.renewSession(req, changed)
    if (wantsJson(req)) res.json({ status: 'changed', next: '/account' })
    else res.redirect(303, '/account')
  })
  router.use('/password', backToForm('/password'))

  return router
}
