import express from 'express'
import type { MfaRule } from '../../src/index.js'
import { requireMfa } from '../../src/index.js'
import { type HostSetup, host } from '../kit/host.js'

/** What an approved request did. */
export interface Done {
  readonly body: unknown
  readonly approval: unknown
}

/** A host whose route `POST /pay` asks for an approval of `amount` and `to`, and others that differ in one thing. */
export function payments(rule: MfaRule = { bind: ['amount', 'to'] }, setup: HostSetup = {}) {
  const done: Done[] = []
  const made = host({
    ...setup,
    routes(app, mfa, auth) {
      const parse = [express.json(), express.urlencoded({ extended: true })]
      const run: express.RequestHandler = (req, res) => {
        done.push({ body: { ...req.body }, approval: req.mfa?.approval })
        res.json({ done: true })
      }
      app.all('/pay', parse, requireMfa(rule), run)
      app.post('/pay-again', parse, requireMfa(rule), run)
      app.post('/accounts/:account/pay', parse, requireMfa(rule), run)
      app.post('/strict', parse, requireMfa({ maxAge: '5m' }), run)
      setup.routes?.(app, mfa, auth)
    },
  })
  return { ...made, done }
}
