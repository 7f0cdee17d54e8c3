import express from 'express'
import type { Test } from 'supertest'
import type { MfaRule } from '../../src/index.js'
import { requireMfa } from '../../src/index.js'
import { type Host, type HostSetup, host, type jsonAgent, signInFully } from '../kit/host.js'

/** The action that most tests approve. */
export const BILL = { amount: '250.00', to: 'DE89370400440532013000' }

/** The effect of an approved request. */
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

/** A user who is signed in with both factors, with the host. */
export async function signedIn(...args: Parameters<typeof payments>) {
  const host = payments(...args)
  return { ...host, agent: await signInFully(host, 'bob') }
}

/** Asks for an approval, gives it by a code in a text message, and returns what the routes said. */
export async function approve(
  { standIn }: { readonly standIn: Pick<Host['standIn'], 'newestCode'> },
  agent: ReturnType<typeof jsonAgent>,
  ask: () => Test,
) {
  const asked = await ask().expect(401)
  const { approval } = asked.body
  await agent.post('/mfa/challenge').send({ factor: 'sms', approval: approval.id }).expect(200)
  const given = await agent
    .post('/mfa/verify')
    .send({ code: standIn.newestCode(), approval: approval.id })
    .expect(200)
  return { asked: asked.body, given: given.body }
}
