import express from 'express'
import passport from 'passport'
import { describe, expect, it } from 'vitest'
import { createMfa, type MfaOptions, OptionsError } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD, host, NameStrategy, type TestUser, testUsers } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'
import { payloadOf, signToken, tokenClient } from './kit.js'

/** An API without express-session and without Passport's sessions. */
function api(tokens: Partial<NonNullable<MfaOptions<TestUser>['tokens']>> = {}) {
  const standIn = standInService()
  const users = testUsers()
  const auth = new passport.Authenticator()
  auth.use(new NameStrategy(users))
  const mfa = createMfa<TestUser>({
    service: standIn.service,
    factors: (user) => user.factors,
    ...EMPTY_RECORD,
    logger: { warn: () => {}, error: () => {} },
    diagnostics: false,
    tokens: {
      findUser: (id) => Object.values(users).find((user) => user.id === id),
      issue: (_user, claims) => ({ access: signToken(claims) }),
      claims: (req) => payloadOf((req.get('authorization') ?? '').slice('Bearer '.length)),
      store: 'memory',
      only: true,
      ...tokens,
    },
  })
  const app = express()
  app.use(mfa.router)
  app.post('/auth/login', express.json(), auth.authenticate('name', { session: false }), mfa.tokens.begin)
  app.post('/auth/session', express.json(), auth.authenticate('name'), (_req, res) => void res.json({}))
  app.post(
    '/transfer',
    mfa.requireMfa(),
    (req, res) => void res.json({ id: Reflect.get(req.user ?? {}, 'id') }),
  )
  const failures: unknown[] = []
  app.use(((error: { code?: string; status?: number }, _req, res, _next) => {
    failures.push(error)
    res.status(error.status ?? 500).json({ failed: error.code })
  }) satisfies express.ErrorRequestHandler)
  return { app, mfa, standIn, failures }
}

describe('an app that has tokens only', () => {
  it('signs in without express-session, and finds the user by the claims where no middleware does', async () => {
    const { app, standIn } = api()
    const { body } = await tokenClient(app).post('/auth/login').send({ name: 'bob' }).expect(401)
    const client = tokenClient(app, { login: body.login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const { access } = (await client.post('/mfa/verify').send({ code: standIn.newestCode() }).expect(200))
      .body
    await tokenClient(app, { access }).post('/transfer').expect(200, { id: 'u-bob' })
    await tokenClient(app).post('/transfer').expect(401)
    await tokenClient(app).get('/mfa').expect(200, { status: 'none', factors: [] })
    await tokenClient(app).post('/mfa/challenge').send({ factor: 'sms' }).expect(401)
  })

  it('fails a sign-in with a session', async () => {
    const { app } = api()
    const { body } = await tokenClient(app).post('/auth/session').send({ name: 'bob' }).expect(500)
    expect(body.failed).toBe('ERR_MFA_TOKENS')
  })

  it('lets no request without a session pass in an app that may have sessions', async () => {
    const { app, failures } = api({ only: false })
    await tokenClient(app).post('/auth/login').send({ name: 'bob' }).expect(500)
    expect(failures).toEqual([expect.objectContaining({ code: 'ERR_MFA_NO_SESSION' })])
  })
})

describe('the option tokens', () => {
  const faultsOf = (given: object): readonly string[] => {
    try {
      const options = { service: standInService().service, ...EMPTY_RECORD, ...given } as MfaOptions
      void createMfa(options).session
      return []
    } catch (error) {
      return error instanceof OptionsError ? error.faults : [String(error)]
    }
  }

  it('names everything that is missing at once, the store too', () => {
    expect(faultsOf({ tokens: { only: 'yes', audience: 'x' } })).toEqual([
      'tokens.findUser must be a function that finds a user by the id',
      'tokens.issue must be a function that returns the body with the tokens',
      'tokens.claims must be a function from a request to the payload of its verified token',
      expect.stringContaining('tokens.store must be "memory"'),
      'tokens.only must be true or false',
      'tokens.audience is not an option; check its spelling',
    ])
  })

  it('says that a handler needs it', () =>
    everyCase(['begin', 'refresh'] as const, (name) => {
      const { mfa } = host()
      expect(() => createMfa(mfa).tokens[name]).toThrow(`mfa.tokens.${name} needs the option tokens`)
    }))

  it('says that functions of account need it', async () => {
    const { account } = createMfa(host().mfa)
    await expect(account.isEnded({})).rejects.toThrow('account.isEnded needs the option tokens')
    await expect(account.endTokens({} as never, testUsers().bob as TestUser)).rejects.toThrow(
      'account.endTokens needs the option tokens',
    )
  })
})
