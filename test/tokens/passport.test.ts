import express from 'express'
import passport from 'passport'
import { describe, expect, it } from 'vitest'
import { MfaStrategy } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { NameStrategy, testUsers } from '../kit/host.js'
import { payloadOf, signToken, tokenClient, tokenHost } from './kit.js'

/** A host with a login route and a route for the second factor, each for one request. */
function bothForOne() {
  const users = testUsers()
  let given: ConstructorParameters<typeof MfaStrategy>[0] | undefined
  const made = tokenHost({
    users,
    moreRoutes(app, mfa) {
      given = mfa as never
      const auth = new passport.Authenticator()
      auth.use(new NameStrategy(users))
      auth.use(new MfaStrategy(given))
      const mfaForOne = auth.authenticate('mfa', { session: false })
      const issue: express.RequestHandler = (req, res) => {
        const { status, acr } = req.mfa ?? {}
        res.json({ status, acr, access: signToken({ ...req.mfa?.claims, kind: 'access' }) })
      }
      app.post('/one/login', express.json(), auth.authenticate('name', { session: false }), mfaForOne, issue)
      app.post('/one/factor', mfaForOne, issue)
    },
  })
  return made
}

describe('passport.authenticate("mfa", { session: false }) for a client without a session', () => {
  it('takes every kind of factor under a reference, and says what was shown', () =>
    everyCase(['sms', 'app'] as const, async (factor) => {
      const made = bothForOne()
      const begun = await tokenClient(made.app).post('/one/login').send({ name: 'alice' }).expect(401)
      expect(begun.body).toMatchObject({ code: 'mfa_required', login: expect.stringMatching(/^[\w-]{43}$/) })
      expect(begun.headers['set-cookie']).toBeUndefined()
      const client = tokenClient(made.app, { login: begun.body.login })
      if (factor === 'app') made.standIn.setApp('alice@example.com', '424242')
      else await client.post('/mfa/challenge').send({ factor }).expect(200)
      const code = factor === 'app' ? '424242' : made.standIn.newestCode()
      const { body } = await client.post('/one/factor').send({ factor, code }).expect(200)
      expect(body).toMatchObject({
        status: 'verified',
        acr: `urn:countersign:acr:${factor === 'app' ? 'strong' : 'medium'}`,
      })
      expect(payloadOf(body.access)).toMatchObject({ sub: 'u-ali', mfa: { generation: 0 } })
      await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(200)
      await client.post('/one/factor').send({ factor, code }).expect(401)
      expect(made.issued).toEqual([])
    }))

  it('lets a user of whom no factor is required pass', async () => {
    const made = bothForOne()
    const { body } = await tokenClient(made.app).post('/one/login').send({ name: 'nina' }).expect(200)
    expect(body.status).toBe('none')
    expect(payloadOf(body.access)).toMatchObject({ sub: 'u-nin' })
  })

  it('refuses a wrong code, and counts it', async () => {
    const made = bothForOne()
    const begun = await tokenClient(made.app).post('/one/login').send({ name: 'bob' }).expect(401)
    const client = tokenClient(made.app, { login: begun.body.login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    await client.post('/one/factor').send({ code: '000000' }).expect(401)
    const { body } = await client.post('/mfa/verify').send({ code: '000001' }).expect(401)
    expect(body).toMatchObject({ code: 'invalid_code', attemptsLeft: 3 })
  })
})
