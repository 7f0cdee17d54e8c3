import express from 'express'
import { describe, expect, it } from 'vitest'
import { createMfa, requireMfa } from '../../src/index.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { addKey, keyHost, PAGE, signedIn } from '../keys/kit.js'
import { SECOND, stopClock } from '../kit/clock.js'

/*
 * A user sets up the first factor. An intruder who has the session then, or has seen the code that was typed for it, goes on with that.
 */

const PAYMENT = { amount: '250.00', to: 'DE89370400440532013000' }

/** A host with a route for each kind of rule, and a user without a factor who is signed in there. */
async function withoutFactor() {
  const clock = stopClock()
  const made = keyHost({
    options: { factors: () => [] },
    routes(app, options) {
      const { requireStrongest } = createMfa(options)
      const done: express.RequestHandler = (_req, res) => void res.json({ done: true })
      app.post('/recent', requireMfa({ maxAge: '5m' }), done)
      app.post('/key', requireMfa({ maxAge: '5m', minStrength: 'phishing-resistant' }), done)
      app.post('/pay', express.json(), requireMfa({ bind: ['amount', 'to'] }), done)
      app.post('/email', requireStrongest(), done)
    },
  })
  const agent = await signedIn(made, 'nina')
  return { ...made, agent, clock, code: () => made.kit.apps.code('nina@example.com') }
}

/** The same user, who has just set up an app with `used`. */
async function withNewApp() {
  const made = await withoutFactor()
  const { agent } = made
  await agent.post('/mfa/enroll-app').send({}).expect(200)
  const used = made.code()
  await agent.post('/mfa/enroll-app/confirm').send({ code: used }).expect(200)
  return { ...made, used }
}

type Made = Awaited<ReturnType<typeof withNewApp>>

/** Tries the code of the setup, and then the next one. */
async function showNext({ agent, used, clock, code }: Made, approval?: string) {
  const factor = { factor: 'app', approval }
  await agent.post('/mfa/challenge').send(factor).expect(200)
  const again = await agent.post('/mfa/verify').send({ ...factor, code: used })
  expect(again.body.code).toBe('invalid_code')
  clock.move(30 * SECOND)
  return (
    await agent
      .post('/mfa/verify')
      .send({ ...factor, code: code() })
      .expect(200)
  ).body
}

describe('the setup of a factor (R51, R55, R92)', () => {
  it('answers a rule about a recent factor of its strength, and no stronger one', async () => {
    const { agent } = await withNewApp()
    await agent.post('/recent').expect(200)
    expect((await agent.post('/key').expect(403)).body.code).toBe('enrollment_required')
  })

  it('is no approval, for which its code does not count either (R121)', async () => {
    const made = await withNewApp()
    const { body } = await made.agent.post('/pay').send(PAYMENT).expect(401)
    const approved = await showNext(made, body.approval.id)
    expect(approved).toMatchObject({ status: 'approved' })
    await made.agent.post('/pay').send(PAYMENT).expect(200)
  })

  it.each([
    ['removing the app', '/mfa/enroll-app/remove'],
    ['a change by the host (R136)', '/email'],
  ])('permits no change of factors, for which its code does not count either: %s', async (_what, path) => {
    const made = await withNewApp()
    expect((await made.agent.post(path).expect(401)).body.code).toBe('step_up_required')
    await showNext(made)
    await made.agent.post(path).expect(200)
  })

  it('has the page ask for the next code, until the app shows one', async () => {
    const { agent, clock } = await withNewApp()
    const html = (path: string) => agent.get(path).set('Accept', 'text/html')
    await html('/mfa/enroll-app/remove').expect(303)
    const next = 'Wait until your authenticator app shows the next one'
    expect((await html('/mfa/verify?factor=app').expect(200)).text).toContain(next)
    clock.move(30 * SECOND)
    expect((await html('/mfa/verify?factor=app').expect(200)).text).not.toContain(next)
  })

  it('confirms no other factor whose setup began before it', async () => {
    const { agent, code } = await withoutFactor()
    const { body } = await agent.post('/mfa/keys/options').send({ method: 'passkey' }).expect(200)
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: code() }).expect(200)
    const response = softwareAuthenticator().create(body.publicKey, PAGE)
    await agent.post('/mfa/keys').send({ method: 'passkey', response }).expect(409)
    expect((await agent.get('/mfa')).body.factors).toMatchObject([{ method: 'app' }])
  })

  it('permits to name a new key, and not to remove it', async () => {
    const { agent } = await withoutFactor()
    const { key } = await addKey(agent, 'passkey')
    await agent.post('/key').expect(200)
    await agent.post('/mfa/keys/rename').send({ key: key.id, name: 'Phone' }).expect(200)
    const { body } = await agent.post('/mfa/keys/remove').send({ key: key.id }).expect(401)
    expect(body.code).toBe('step_up_required')
  })

  it('signs nobody in elsewhere', async () => {
    const { agent: _here, used, code, clock, ...made } = await withNewApp()
    const elsewhere = await signedIn(made, 'nina')
    const show = (typed: string) => elsewhere.post('/mfa/verify').send({ factor: 'app', code: typed })
    expect((await show(used)).body.code).toBe('invalid_code')
    clock.move(30 * SECOND)
    await show(code()).expect(200)
  })
})
