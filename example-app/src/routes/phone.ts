import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { backToForm } from '../http/back-to-form.js'
import { readBody } from '../http/body.js'
import { frameOf } from '../http/frame.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { customer, signedIn } from '../http/signed-in.js'
import { languageOf } from '../language.js'
import { factorsOf } from '../mfa.js'
import { takePageMessage } from '../session.js'
import { phonePage } from '../views/phone-page.js'

const numberText = 'must be a phone number with country code, like +12025550166'
const start = z.object({
  phone: z
    .string({ error: numberText })
    .transform((phone) => phone.replace(/[\s()-]/g, ''))
    .pipe(z.string().regex(/^\+[1-9]\d{6,14}$/, { error: numberText })),
})
const confirm = z.object({ code: z.string({ error: 'must be text' }).min(1).max(20) })

/**
 * `GET /phone`, `POST /phone`, `POST /phone/confirm`: a user adds or changes a phone number. It counts only once a code that was
 * sent to it came back, and the change requires the strongest factor that the user has.
 */
export function phoneRoutes(context: VaultContext): Router {
  const { config, users, mfa, codes } = context
  const router = Router()
  const strongest = mfa.requireStrongest({ maxAge: config.stepUpMaxAge })

  router.get('/phone', signedIn, strongest, (req, res) => {
    const pending = req.session.newPhone?.phone
    res.send(phonePage(customer(req), pending, takePageMessage(req), frameOf(req, context)))
  })

  router.post('/phone', signedIn, strongest, async (req, res) => {
    const { phone } = readBody(req, start)
    const user = customer(req)
    const answer = await codes.send({
      method: 'sms',
      contact: { kind: 'phone', phone },
      account: String(user.id),
      locale: languageOf(req),
      purpose: 'enrollment',
    })
    if (answer.outcome === 'refused')
      throw new Problem('invalid_request', 'No code can be sent to this number now.')
    req.session.newPhone = { phone, ...(answer.challenge && { challenge: answer.challenge }) }
    respond(req, res, 'code_sent', '/phone')
  })

  router.post('/phone/confirm', signedIn, strongest, async (req, res) => {
    const { code } = readBody(req, confirm)
    const user = customer(req)
    const { newPhone } = req.session
    if (!newPhone) throw new Problem('invalid_request', 'Enter your phone number first.')
    const { phone, challenge } = newPhone
    const answer = await codes.verify({
      method: 'sms',
      contact: { kind: 'phone', phone },
      code: code.replace(/\D/g, ''),
      kind: 'code',
      account: String(user.id),
      ...(challenge !== undefined && { challenge }),
    })
    if (answer.outcome !== 'valid') {
      throw new Problem('invalid_request', 'The code is wrong or has expired. Your number is unchanged.')
    }
    delete req.session.newPhone
    if (user.phone !== null) {
      for (const factor of factorsOf(user).filter((one) => 'phone' in one)) {
        await mfa.account.factorRemoved(req, user, factor)
      }
    }
    await users.changePhone(user.id, phone)
    await mfa.account.factorAdded(req, user, { method: 'sms', phone })
    req.session.pageMessage = {
      tone: 'success',
      text: 'Your phone number is confirmed. You can receive codes on it.',
    }
    respond(req, res, 'confirmed', '/account')
  })
  router.use('/phone', backToForm('/phone'))

  return router
}

function respond(req: Request, res: Response, status: 'code_sent' | 'confirmed', next: string): void {
  if (wantsJson(req)) res.json({ status, next })
  else res.redirect(303, next)
}
