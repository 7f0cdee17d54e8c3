import express from 'express'
import { MemoryStore } from 'express-session'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa, type MfaEvent, type MfaOptions, type MfaRule, requireMfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, type jsonAgent, signIn, signInFully, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { heldWork } from '../kit/signal.js'
import { standInService } from '../kit/stand-in-service.js'
import { describeWithSession, itWithSession } from '../kit/transports.js'
import { approve, BILL, payments, signedIn } from './kit.js'

afterEach(() => {
  vi.useRealTimers()
})

const createdFor = (mfa: MfaOptions<TestUser>) => createMfa(mfa)
type Agent = ReturnType<typeof jsonAgent>
/** A user's language, as `languages.ofUser` returns it. */
const ownLanguage = (tag: string | undefined) => () => tag

describe('an approval (R121, R122)', () => {
  it('counts once, for exactly the request that was shown', async () => {
    const events: MfaEvent[] = []
    const { agent, standIn, done } = await signedIn(undefined, {
      options: { onEvent: (event) => void events.push(event) },
    })
    const pay = () => agent.post('/pay').send(BILL)
    const { asked, given } = await approve({ standIn }, agent, pay)
    expect(asked).toMatchObject({
      code: 'step_up_required',
      approval: {
        authorization_details: { type: 'POST /pay', ...BILL },
        lines: [
          { label: 'Amount', value: BILL.amount },
          { label: 'To', value: BILL.to },
        ],
        atLeast: 'entered',
      },
    })
    expect(given).toMatchObject({ status: 'approved', approval: { id: asked.approval.id, method: 'sms' } })
    await pay().expect(200)
    const { approval } = given
    expect(done).toEqual([{ body: BILL, approval }])
    expect(approval).toEqual({
      id: asked.approval.id,
      authorization_details: { type: 'POST /pay', ...BILL },
      digest: expect.stringMatching(/^[\w-]{43}$/),
      binding: 'entered',
      method: 'sms',
      amr: ['sms'],
      approvedAt: expect.any(Number),
    })
    expect(events.slice(-2)).toMatchObject([
      { type: 'approved', userId: 'u-bob', approval: approval.id, binding: 'entered', method: 'sms' },
      { type: 'approval_used', userId: 'u-bob', approval: approval.id },
    ])
    await pay().expect(401)
    expect(done).toHaveLength(1)
  })

  it('is asked for although a factor was shown a moment ago, and is none of those itself', async () => {
    const { agent, standIn } = await signedIn()
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + 6 * 60_000)
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    await agent.post('/strict').expect(401)
  })

  it('is refused in another session of the user', async () => {
    const { agent, ...host } = await signedIn()
    await approve(host, agent, () => agent.post('/pay').send(BILL))
    const other = await signInFully(host, 'bob')
    await other.post('/pay').send(BILL).expect(401)
    await agent.post('/pay').send(BILL).expect(200)
  })

  it('says what is wrong with a field before it asks for a factor', async () => {
    const { agent, standIn } = await signedIn()
    const sent = standIn.count('send')
    await everyCase(
      [
        [{ to: 'x' }, 'amount', 'is missing'],
        [{ Amount: '1', to: 'x' }, 'amount', 'is missing'],
        [{ amount: null, to: 'x' }, 'amount', 'is missing'],
        [{ amount: ['1', '2'], to: 'x' }, 'amount', 'must be given once'],
        [{ amount: { value: 1 }, to: 'x' }, 'amount', 'must be a text, a number or a boolean'],
        [{ amount: '1', to: 'x'.repeat(201) }, 'to', 'must be at most 200 characters'],
        [{ amount: '1', to: '\ud800' }, 'to', 'must be valid Unicode'],
      ] as const,
      async ([body, field, detail]) => {
        const refused = await agent
          .post('/pay')
          .set('content-type', 'application/json')
          .send(JSON.stringify(body))
        expect([refused.status, refused.body.code, refused.body.errors]).toEqual([
          400,
          'invalid_request',
          [{ field, detail }],
        ])
      },
    )
    await agent
      .post('/pay')
      .set('content-type', 'application/json')
      .send('{"amount":1e999,"to":"x"}')
      .expect(400)
    await agent.post('/pay').type('form').send('amount=1&amount=2&to=x').expect(400)
    await agent
      .post('/pay')
      .send({ amount: '1', to: 'x'.repeat(200) })
      .expect(401)
    expect(standIn.count('send')).toBe(sent)
  })

  itWithSession('names the field on a page, too', async () => {
    const { agent } = await signedIn()
    const page = await agent
      .post('/pay')
      .set('Accept', 'text/html')
      .type('form')
      .send({ to: 'x' })
      .expect(400)
    expect(page.text).toContain('<bdi>amount</bdi>')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  })

  it('takes no file for a field, however multer or express-fileupload lists it', () =>
    everyCase(
      [
        { file: { fieldname: 'to' } },
        { files: [{ fieldname: 'other' }, { fieldname: 'to' }] },
        { files: { to: [{ fieldname: 'to' }] } },
        { files: { to: { name: 'invoice.pdf' } } },
      ],
      async (uploaded) => {
        const { agent } = await signedIn(undefined, {
          routes: (inner) => {
            const parse: express.RequestHandler = (req, _res, next) => {
              Object.assign(req, { body: { amount: '1', to: 'x' }, ...uploaded })
              next()
            }
            inner.post('/upload', parse, requireMfa({ bind: ['amount', 'to'] }), (_req, res) => {
              res.json({ done: true })
            })
          },
        })
        const refused = await agent.post('/upload').expect(400)
        expect(refused.body.errors).toEqual([{ field: 'to', detail: 'must not be a file' }])
      },
    ))

  it('ends five minutes after it was given, to the millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { agent, standIn } = await signedIn()
    const pay = () => agent.post('/pay').send(BILL)
    const { given } = await approve({ standIn }, agent, pay)
    const { approvedAt } = given.approval
    vi.setSystemTime(approvedAt + 5 * 60_000)
    await pay().expect(401)
    vi.setSystemTime(approvedAt + 10 * 60_000)
    await approve({ standIn }, agent, pay)
    vi.setSystemTime(Date.now() + 5 * 60_000 - 1)
    await pay().expect(200)
  })

  it('counts for nothing before it was given, as after the clock was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { agent, standIn, done } = await signedIn()
    const pay = () => agent.post('/pay').send(BILL)
    vi.setSystemTime(Date.now() + 60_000)
    const { given } = await approve({ standIn }, agent, pay)
    vi.setSystemTime(given.approval.approvedAt - 1)
    const refused = await pay().expect(401)
    expect(refused.body.code).toBe('step_up_required')
    expect(refused.body.approval.id).not.toBe(given.approval.id)
    expect(done).toEqual([])
  })

  it('cannot be given five minutes after it was asked for', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { agent, standIn } = await signedIn()
    const asked = await agent.post('/pay').send(BILL).expect(401)
    const { id } = asked.body.approval
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval: id }).expect(200)
    vi.setSystemTime(Date.now() + 5 * 60_000)
    const late = await agent
      .post('/mfa/verify')
      .send({ code: standIn.newestCode(), approval: id })
      .expect(409)
    expect(late.body.code).toBe('approval_ended')
    // Nor as another step-up: the challenge ended with it.
    await agent.post('/mfa/verify').send({ code: standIn.newestCode() }).expect(409)
  })

  itWithSession('is lost with a logout, a new password and a change of factors', async () => {
    const cases = [
      ['/logout', 401, 'sign_in_required'],
      ['/password', 401, 'step_up_required'],
      ['/number', 409, 'approval_ended'],
    ] as const
    await everyCase(cases, async ([path, status, code]) => {
      const host = payments(undefined, {
        routes(inner, mfa) {
          const { account } = createdFor(mfa)
          inner.post('/password', async (req, res) => {
            await account.renewSession(req, req.user as never)
            res.json({ done: true })
          })
          inner.post('/number', async (req, res) => {
            await account.factorAdded(req, req.user as never, { method: 'sms', phone: '+447700900109' })
            res.json({ done: true })
          })
        },
      })
      const agent = await signInFully(host, 'bob')
      await approve(host, agent, () => agent.post('/pay').send(BILL))
      await agent.post(path).expect(200)
      const after = await agent.post('/pay').send(BILL).expect(status)
      expect(after.body.code).toBe(code)
      expect(host.done).toEqual([])
    })
  })

  it('is lost in all sessions with a new password', async () => {
    const host = payments(undefined, {
      routes(inner, mfa) {
        inner.post('/password', async (req, res) => {
          await createdFor(mfa).account.revokeDevices(req.user as never)
          res.json({ done: true })
        })
      },
    })
    const agent = await signInFully(host, 'bob')
    await approve(host, agent, () => agent.post('/pay').send(BILL))
    const other = await signInFully(host, 'bob')
    await other.post('/password').expect(200)
    await agent.post('/pay').send(BILL).expect(409)
    expect(host.done).toEqual([])
  })

  it('is lost with the factor that was shown for it', async () => {
    const { agent, standIn, users, done } = await signedIn()
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    users.bob?.factors.splice(0, 1, { method: 'app', user: 'bob@example.com' })
    await agent.post('/pay').send(BILL).expect(409)
    expect(done).toEqual([])
  })

  it('outlives a service that is gone in between, and is not used up by its failure', async () => {
    const standIn = standInService()
    let isGone = false
    const service = {
      ...standIn.service,
      factorsOf: async () => {
        if (isGone) return standIn.down()
        return { existing: [], backupCodesLeft: 0 }
      },
    }
    const host = payments(undefined, { standIn, options: { service } })
    const agent = await signInFully(host, 'bob')
    await approve(host, agent, () => agent.post('/pay').send(BILL))
    isGone = true
    await agent.post('/pay').send(BILL).expect(503)
    isGone = false
    await agent.post('/pay').send(BILL).expect(200)
    expect(host.done).toHaveLength(1)
  })

  it('is not given by a page that asked for something else, as in a second tab', async () => {
    const { agent, standIn } = await signedIn()
    const first = await agent.post('/pay').send(BILL).expect(401)
    await agent
      .post('/pay')
      .send({ ...BILL, to: 'mallory' })
      .expect(401)
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval: first.body.approval.id }).expect(409)
    await agent.post('/mfa/challenge').send({ factor: 'sms' }).expect(409)
    await verify(agent, standIn.newestCode()).expect(409)
    // And a page that asked for nothing but a step-up gives no approval.
    const { body } = await agent.post('/pay').send(BILL).expect(401)
    expect(body.approval.id).not.toBe(first.body.approval.id)
    await agent.post('/strict').expect(200)
  })

  it('is in the MFA status, and is refused for good by its user', async () => {
    const events: MfaEvent[] = []
    const { agent, standIn } = await signedIn(undefined, {
      options: { onEvent: (event) => void events.push(event) },
    })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    const { atLeast: _ofTheRoute, ...shown } = asked.body.approval
    expect((await agent.get('/mfa').expect(200)).body.approval).toEqual(shown)
    const approval = shown.id
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    await agent.post('/mfa/cancel').send({ approval: 'another' }).expect(409)
    await agent.post('/mfa/cancel').send({ approval }).expect(200)
    expect(events.at(-1)).toMatchObject({ type: 'approval_refused', approval })
    await agent.post('/mfa/verify').send({ code: standIn.newestCode(), approval }).expect(409)
    expect((await agent.get('/mfa').expect(200)).body.approval).toBeUndefined()
  })

  it('can wait for its user three times at once, in all sessions together (R126)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const host = payments()
    const agents = [await signInFully(host, 'bob')]
    for (let more = 0; more < 3; more++) agents.push(await signInFully(host, 'bob'))
    for (const agent of agents.slice(0, 3)) await agent.post('/pay').send(BILL).expect(401)
    const last = agents[3] as Agent
    const full = await last.post('/pay').send(BILL).expect(429)
    expect(full.body).toMatchObject({ code: 'too_many_approvals', retryAfterSeconds: 300 })
    // The same request again is the same question, and another one takes its place.
    const ask = async () => (await agents[0]?.post('/pay').send(BILL).expect(401))?.body.approval.id
    expect(await ask()).toBe(await ask())
    await agents[0]
      ?.post('/pay')
      .send({ ...BILL, amount: '1' })
      .expect(401)
    await last.post('/pay').send(BILL).expect(429)
    vi.setSystemTime(Date.now() + 5 * 60_000)
    await last.post('/pay').send(BILL).expect(401)
  })

  it('leaves its place to what replaces it, also if it was given (R126)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { agent, standIn } = await signedIn()
    const pay = (amount: number) => agent.post('/pay').send({ ...BILL, amount })
    for (const amount of [1, 2, 3, 4]) await approve({ standIn }, agent, () => pay(amount))
    // Another step-up replaces it, too.
    vi.setSystemTime(Date.now() + 6 * 60_000)
    for (const amount of [5, 6, 7, 8]) {
      await pay(amount).expect(401)
      await agent.post('/strict').expect(401)
    }
  })

  it('is one for equal requests of a session at once, as after a double click (R126)', async () => {
    const { agent, standIn, done } = await signedIn()
    for (const amount of [1, 2, 3, 4]) {
      const pay = () => agent.post('/pay').send({ ...BILL, amount })
      const asked = await Promise.all([pay(), pay(), pay()])
      expect(asked.map(({ status }) => status)).toEqual([401, 401, 401])
      expect(new Set(asked.map(({ body }) => body.approval.id)).size).toBe(1)
      const { given } = await approve({ standIn }, agent, pay)
      expect(given.approval.id).toBe(asked[0]?.body.approval.id)
      // Equal requests of another session are its own.
      if (amount === 1) expect((await pay().expect(200)).body).toEqual({ done: true })
    }
    expect(done).toHaveLength(1)
  })

  it('is one for each session and each time, also for equal requests (R121, R126)', async () => {
    const { agent, ...host } = await signedIn()
    const other = await signInFully(host, 'bob')
    const idOf = async (from: Agent) => (await from.post('/pay').send(BILL).expect(401)).body.approval.id
    const first = await idOf(agent)
    expect(await idOf(other)).not.toBe(first)
    await agent.post('/mfa/cancel').send({ approval: first }).expect(200)
    expect(await idOf(agent)).not.toBe(first)
  })

  itWithSession('leaves its place when its session ends through us, or goes on without it (R126)', () =>
    everyCase(
      [
        ['a sign-out', (agent: Agent) => agent.post('/logout').expect(200)],
        ['a new sign-in', (agent: Agent) => login(agent, 'bob').expect(200)],
        ['the sign-in of another user', (agent: Agent) => login(agent, 'alice').expect(200)],
        ['the end of all sessions of the user', (agent: Agent) => agent.post('/secure').expect(200)],
      ] as const,
      async ([, end]) => {
        const host = payments(undefined, {
          options: { notices: { store: 'memory' }, urls: { publicUrl: 'https://shop.example' } },
          routes(inner, mfa) {
            inner.post('/secure', async (req, res) => {
              await createdFor(mfa).account.secure(req.user as never)
              res.json({})
            })
          },
        })
        for (let nth = 0; nth < 4; nth++) {
          const agent = await signInFully(host, 'bob')
          await agent.post('/pay').send(BILL).expect(401)
          await end(agent)
        }
      },
    ),
  )

  it('is used by one of 200 requests at once', async () => {
    const { agent, standIn, done } = await signedIn()
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    const answers = await Promise.all(Array.from({ length: 200 }, () => agent.post('/pay').send(BILL)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(done).toHaveLength(1)
  })

  itWithSession('is not asked for by another site (R13)', async () => {
    const { agent } = await signedIn()
    const refused = await agent.post('/pay').set('Sec-Fetch-Site', 'cross-site').send(BILL).expect(403)
    expect(refused.body.code).toBe('cross_site')
    expect((await agent.get('/mfa').expect(200)).body.approval).toBeUndefined()
  })

  itWithSession('is asked for where a page of another site leads to a route that only reads', () =>
    everyCase(['get', 'head', 'post'] as const, async (method) => {
      const { agent } = await signedIn({
        bind: (req) => ({ type: 'statement', year: String(req.query.year) }),
      })
      const { status } = await agent[method]('/pay?year=2026').set('Sec-Fetch-Site', 'cross-site')
      expect(status).toBe(method === 'post' ? 403 : 401)
    }),
  )

  it('is not given by a factor that the route does not accept, whatever a client names', async () => {
    const host = payments({ bind: ['amount', 'to'], methods: ['app'] })
    host.standIn.setApp('alice@example.com', '123456')
    const agent = await signInFully(host, 'alice')
    const { approval } = (await agent.post('/pay').send(BILL).expect(401)).body
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval: approval.id })
    await agent.post('/mfa/verify').send({ code: host.standIn.newestCode(), approval: approval.id })
    await agent.post('/pay').send(BILL).expect(401)
    expect(host.done).toEqual([])
  })

  it('can be given by a backup code', async () => {
    const { agent, done } = await signedIn()
    await agent.post('/mfa/backup').send({}).expect(200)
    const { approval } = (await agent.post('/pay').send(BILL).expect(401)).body
    const code = 'AAAA-BBBB-CCCC-DDDD'
    await agent.post('/mfa/verify').send({ code, factor: 'backup', approval: approval.id }).expect(200)
    await agent.post('/pay').send(BILL).expect(200)
    expect(done).toHaveLength(1)
  })

  itWithSession('is not used in a session that is signed out at that moment', async () => {
    const held = heldWork()
    let isHeld = false
    const { agent, standIn, done } = await signedIn(undefined, {
      options: {
        async factors(user) {
          if (isHeld) await held.work()
          return user.factors
        },
      },
    })
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    isHeld = true
    const paying = agent
      .post('/pay')
      .send(BILL)
      .then((answer) => answer)
    await held.arrived
    isHeld = false
    await agent.post('/logout').expect(200)
    held.release()
    expect((await paying).body.code).toBe('session_ended')
    expect(done).toEqual([])
  })

  it('is not asked of a user who has no factor to give it with', async () => {
    const agent = await signIn(payments().app, 'nina')
    const { body } = await agent.post('/pay').send(BILL).expect(403)
    expect(body).toMatchObject({ code: 'enrollment_required' })
    expect(body).not.toHaveProperty('approval')
    expect((await agent.get('/mfa').expect(200)).body).not.toHaveProperty('approval')
  })

  itWithSession('is asked for after the sign-in, which shows a factor of its own', async () => {
    const host = payments()
    const agent = await signIn(host.app, 'bob')
    expect((await agent.post('/pay').send(BILL).expect(401)).body.code).toBe('mfa_required')
    await challenge(agent, 'sms').expect(200)
    await verify(agent, host.standIn.newestCode()).expect(200)
    expect((await agent.post('/pay').send(BILL).expect(401)).body.code).toBe('step_up_required')
  })

  itWithSession(
    'says what is wrong with a field to a pending login where one may come, which learns nothing else',
    async () => {
      let asked = 0
      const { app, standIn } = payments(undefined, {
        options: { login: { pendingPaths: ['/pay', '/invoice'] } },
        routes(inner) {
          const bind = () => {
            asked++
            return { type: 'payment' }
          }
          inner.post('/invoice', express.json(), requireMfa({ bind }), (_req, res) => void res.json({}))
        },
      })
      const agent = await signIn(app, 'bob')
      await everyCase(
        [
          { amount: ['1', '2'], to: 'x' },
          { amount: '1', to: 'x'.repeat(201) },
        ],
        (body) => agent.post('/pay').send(body).expect(400),
      )
      const refused = await agent.post('/pay').send({ to: 'x' }).expect(400)
      expect(refused.body).toMatchObject({
        code: 'invalid_request',
        errors: [{ field: 'amount', detail: 'is missing' }],
      })
      const page = agent.post('/pay').set('Accept', 'text/html').type('form').send({ to: 'x' })
      expect((await page.expect(400)).text).toContain('<bdi>amount</bdi>')
      await everyCase(
        [
          ['/pay', BILL],
          ['/invoice', {}],
          ['/pay-again', { to: 'x' }],
        ] as const,
        async ([path, body]) => {
          expect((await agent.post(path).send(body).expect(401)).body.code).toBe('mfa_required')
        },
      )
      expect([asked, standIn.count('send')]).toEqual([0, 0])
    },
  )

  it('is given in a session that the policy let in without a factor, which stays so', async () => {
    const { app, standIn, done } = payments(undefined, { options: { policy: () => 'skip' } })
    const agent = await signIn(app, 'bob')
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    await agent.post('/pay').send(BILL).expect(200)
    expect(done).toHaveLength(1)
    expect((await agent.get('/secret').expect(200)).body.mfa).toMatchObject({
      status: 'none',
      approval: null,
    })
  })

  it('gives the session a new id', async () => {
    const store = new MemoryStore()
    const { agent, standIn } = await signedIn(undefined, { store })
    const ids = () =>
      new Promise<string[]>((resolve) => store.all((_error, all) => resolve(Object.keys(all ?? {}))))
    const before = await ids()
    await approve({ standIn }, agent, () => agent.post('/pay').send(BILL))
    const after = await ids()
    expect(after).toHaveLength(before.length)
    expect(after.some((id) => before.includes(id))).toBe(false)
  })

  it('is what a function of the request says', async () => {
    const rule: MfaRule = {
      bind: (req) => ({ type: 'payment', total: { value: Number(req.body.amount), currency: 'EUR' } }),
      bindText: ({ total }, locale) => [
        { label: locale === 'de' ? 'Betrag' : 'Amount', value: JSON.stringify(total) },
      ],
    }
    const { agent, standIn, done } = await signedIn(rule, {
      options: { languages: { ofUser: () => 'de-CH' } },
    })
    const pay = (amount: string) => agent.post('/pay').send({ amount })
    const { asked } = await approve({ standIn }, agent, () => pay('250.00'))
    expect(asked.approval.lines).toMatchObject([{ label: 'Betrag' }])
    expect(asked.approval.authorization_details).toEqual({
      type: 'payment',
      total: { value: 250, currency: 'EUR' },
    })
    await pay('251').expect(401)
    expect(done).toEqual([])
    await approve({ standIn }, agent, () => pay('252'))
    // The function decides what is the same.
    await pay('252.0').expect(200)
  })

  it('is in a language that the request cannot choose, on the page and in the message (R146)', () =>
    everyCase(
      [
        [{ ofUser: ownLanguage('de-CH') }, 'de', 'de'],
        [{ ofUser: ownLanguage(undefined), offer: ['fr', 'ja'] }, 'fr', 'fr'],
        [{ ofUser: ownLanguage('ja'), offer: ['fr', 'de'] }, 'fr', 'fr'],
        [{ locale: () => 'ja', offer: ['de', 'ja'] }, 'de', 'de'],
        [{}, 'en', 'en'],
      ] as const,
      async ([languages, page, sent]) => {
        const asked: string[] = []
        const standIn = standInService()
        const locales: unknown[] = []
        const service: typeof standIn.service = {
          ...standIn.service,
          send: (request) => {
            locales.push(request.locale)
            return standIn.service.send(request)
          },
        }
        const bindText: MfaRule['bindText'] = ({ amount }, locale) => {
          asked.push(locale)
          return [{ label: 'Amount', value: String(amount) }]
        }
        const host = payments({ bind: ['amount'], bindText }, { standIn, options: { languages, service } })
        const agent = browserAgent(host.app).set('Accept-Language', 'ja').set('Cookie', 'mfa_language=ja')
        await login(agent, 'bob').type('form')
        await challenge(agent, 'sms').type('form')
        await verify(agent, standIn.newestCode()).type('form').expect(303)
        await agent.post('/pay').type('form').send(BILL).expect(303)
        const choice = await agent.get('/mfa?choose').expect(200)
        const approval = /name="approval" value="([^"]+)"/.exec(choice.text)?.[1]
        await agent.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
        const code = await agent.get('/mfa/verify').expect(200)
        expect([asked[0], locales.at(-1)]).toEqual([page, sent])
        for (const { text } of [choice, code]) {
          expect(text).toContain(`<html lang="${page}"`)
          expect(text).not.toContain('mfa-languages')
        }
      },
    ))

  it('fails closed when the host says nothing that can be shown, and ends no process (R99)', async () => {
    await everyCase(
      [
        { bind: () => ({}) as never },
        { bind: () => undefined as never },
        { bind: () => ({ type: 'x', a: undefined }) },
        { bind: () => ({ type: 'x', a: 1, b: 2, c: 3, d: 4, e: 5 }) },
        { bind: () => ({ type: 'x', password: 'p' }) },
        { bind: () => Promise.reject(new Error('the database is gone')) },
        { bind: ['amount'], bindText: () => [] },
        { bind: ['amount'], bindText: () => [{ label: '', value: 'x' }] },
        { bind: ['amount'], bindText: () => [{ label: '\u200b\u2066', value: 'x' }] },
        { bind: ['amount'], bindText: () => 'x' as never },
        { bind: ['amount'], bindText: () => Promise.reject(new Error('the database is gone')) as never },
        { bind: ['amount'], bindText: () => expect.unreachable() },
        { bind: ['amount'], bindText: () => Array.from({ length: 5 }, () => ({ label: 'a', value: 'b' })) },
      ],
      async (rule) => {
        const { agent, done, failures } = await signedIn(rule)
        await agent.post('/pay').send(BILL).expect(500)
        expect(failures).toHaveLength(1)
        expect(done).toEqual([])
      },
    )
  })

  it('rejects a rule that cannot be kept when the app starts (R18)', () =>
    everyCase(
      [
        { bind: 'amount' },
        { bind: [] },
        { bind: ['a b'] },
        { bind: ['type'] },
        { bind: ['type'], bindText: () => [] },
        { bind: { fields: ['type'] } },
        { bind: ['a', 'b', 'c', 'd', 'e'] },
        { bind: ['password'] },
        { bind: ['_csrf'] },
        { bind: ['amount'], maxAge: '5m' },
        { bind: { fields: ['amount'], atLeast: 'seen' } },
        { bind: { atLeast: 'shown' } },
        { bind: { fields: ['amount'], atLeast: 'signed' }, methods: ['sms'] },
        { bind: ['amount'], bindText: 'Amount' },
        { bindText: () => [] },
      ],
      (rule) => {
        expect(() => requireMfa(rule as never)).toThrow(/requireMfa: /)
      },
    ))

  it('says all that is wrong with its fields at once (R18)', () => {
    expect(() => requireMfa({ bind: ['type', 'a', 'b', 'c', 'd'] })).toThrow(
      /cannot name a field type.*more than four fields/s,
    )
  })

  it('must be shown by the message where the rule says so, which this service cannot', async () => {
    const { agent } = await signedIn({ bind: { fields: ['amount'], atLeast: 'shown' } })
    const refused = await agent.post('/pay').send(BILL).expect(403)
    expect(refused.body.code).toBe('enrollment_required')
  })
})

describe('the pages of an approval (R123)', () => {
  const asBrowser = async (host: Pick<Host, 'app' | 'standIn'>) => {
    const agent = browserAgent(host.app)
    await login(agent, 'bob').type('form')
    await challenge(agent, 'sms').type('form')
    await verify(agent, host.standIn.newestCode()).type('form').expect(303)
    return agent
  }
  const idIn = (page: string) => /name="approval" value="([^"]+)"/.exec(page)?.[1] ?? ''

  it('show what is confirmed, and offer the form with exactly that', async () => {
    const host = payments()
    const agent = await asBrowser(host)
    await agent
      .post('/pay')
      .type('form')
      .send({ ...BILL, note: 'rent' })
      .expect(303, /\/mfa/)
    const choice = await agent.get('/mfa').expect(200)
    const lines = `<bdi class="mfa-act">Amount</bdi> <bdi class="mfa-act-value">${BILL.amount}</bdi></h1>`
    expect(choice.text).toContain(lines)
    const approval = idIn(choice.text)
    await agent.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
    const code = await agent.get('/mfa/verify').expect(200)
    expect(code.text).toContain(lines)
    expect(idIn(code.text)).toBe(approval)
    await agent
      .post('/mfa/verify')
      .type('form')
      .send({ factor: 'sms', approval, code: host.standIn.newestCode() })
      .expect(303)
      .expect('Location', '/mfa/resume')
    const offer = await agent.get('/mfa/resume').expect(200)
    expect(offer.text).toContain(`name="amount" value="${BILL.amount}"`)
    // A repeated request counts only if it is the one that was shown.
    await agent
      .post('/pay')
      .type('form')
      .send({ ...BILL, to: 'mallory' })
      .expect(303)
    expect(host.done).toEqual([])
  })

  it('offer the form also in a session that the policy let in without a factor', async () => {
    const host = payments(undefined, { options: { policy: () => 'skip' } })
    const agent = browserAgent(host.app)
    await login(agent, 'bob').type('form')
    await agent.post('/pay').type('form').send(BILL).expect(303)
    const approval = idIn((await agent.get('/mfa').expect(200)).text)
    await agent.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
    await agent
      .post('/mfa/verify')
      .type('form')
      .send({ factor: 'sms', approval, code: host.standIn.newestCode() })
      .expect(303, /\/mfa\/resume/)
    const offer = await agent.get('/mfa/resume').expect(200)
    expect(offer.text).toContain(`name="to" value="${BILL.to}"`)
    await agent.post('/pay').type('form').send(BILL).expect(200)
    expect(host.done).toHaveLength(1)
  })

  it('lead back to the form after a refusal, and are over then', async () => {
    const host = payments()
    const agent = await asBrowser(host)
    await agent.post('/pay').type('form').send(BILL).expect(303)
    const page = await agent.get('/mfa').expect(200)
    expect(page.text).toContain('Refuse: I don’t want this')
    await agent
      .post('/mfa/cancel')
      .type('form')
      .send({ approval: idIn(page.text) })
      .expect(303, /\//)
    await agent.get('/mfa/resume').expect(303).expect('Location', '/')
    expect((await agent.get('/mfa').expect(200)).text).not.toContain(BILL.to)
  })

  it('show no direction marks, line breaks and invisible characters of a value, and quote it', async () => {
    const host = payments({ bind: ['to'] })
    const agent = await asBrowser(host)
    await everyCase(
      [
        ['DE\u202e0003', '"DE0003"'],
        ['a\u200bb', '"ab"'],
        ['a\nAmount: 1', '"a Amount: 1"'],
        ['\u0430pple', '"\u0430pple"'],
        // Cherokee, Armenian, mathematical letters and Arabic digits beside Latin.
        ['\u13aaold', '"\u13aaold"'],
        ['\u0585range', '"\u0585range"'],
        ['\u{1d44e}pple', '"\u{1d44e}pple"'],
        ['IBAN \u0661\u0662', '"IBAN \u0661\u0662"'],
        ['Ana (東京タワー)', 'Ana (東京タワー)'],
        ['Ана', 'Ана'],
        ['서울 Ana', '서울 Ana'],
        ['أنا', 'أنا'],
        ['\u2066', '""'],
        ['€ 1.00', '€ 1.00'],
        ['1\u00a0000', '1 000'],
        ['<b>', '&lt;b&gt;'],
      ] as const,
      async ([to, shown]) => {
        await agent.post('/pay').type('form').send({ to }).expect(303)
        const page = await agent.get('/mfa').expect(200)
        expect(page.text).toContain(`>${shown.replaceAll('"', '&quot;')}</bdi></h1>`)
      },
    )
  })

  it('say that a request is no longer open', async () => {
    const host = payments()
    const agent = await asBrowser(host)
    await agent.post('/pay').type('form').send(BILL).expect(303)
    await agent.post('/mfa/verify').type('form').send({ code: '123456', approval: 'gone' }).expect(409)
    const page = await agent.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(409)
    expect(page.text).toContain('This can no longer be confirmed')
  })
})

describeWithSession('an approval with the Passport strategy', () => {
  it('is in req.authInfo, and can be given and used by one request', async () => {
    const infos: unknown[] = []
    const { app, standIn } = payments(undefined, {
      routes(inner, _mfa, auth) {
        inner.post(
          '/pay-now',
          express.json(),
          (req, res, next) =>
            req.body.code ? auth.authenticate('mfa', { session: false })(req, res, next) : next(),
          requireMfa({ bind: ['amount'] }),
          (req, res) => {
            infos.push(req.authInfo)
            res.json(req.mfa?.approval)
          },
        )
        inner.post(
          '/own-verify',
          express.json(),
          auth.authenticate('mfa'),
          (req, res) => void res.json(req.authInfo),
        )
      },
    })
    const agent = await signInFully({ app, standIn }, 'bob')
    const asked = await agent.post('/pay-now').send(BILL).expect(401)
    const approval = asked.body.approval.id
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    const code = standIn.newestCode()
    const paid = await agent
      .post('/pay-now')
      .send({ ...BILL, code, approval })
      .expect(200)
    expect(paid.body.id).toBe(approval)
    expect(infos).toMatchObject([{ method: 'sms', approval: { id: approval } }])

    const second = await agent.post('/pay').send(BILL).expect(401)
    const { id } = second.body.approval
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval: id }).expect(200)
    const own = await agent.post('/own-verify').send({ code: standIn.newestCode(), approval: id }).expect(200)
    expect(own.body).toMatchObject({ approval: { id } })
    await agent.post('/pay').send(BILL).expect(200)
  })

  it('continues the session in one req.logIn only, so a second one starts a pending login', async () => {
    const { app, standIn } = payments(undefined, {
      routes(inner, _mfa, auth) {
        const logInAgain: express.RequestHandler = (req, _res, next) =>
          req.user ? req.logIn(req.user, next) : next()
        inner.post('/own-verify', express.json(), auth.authenticate('mfa'), logInAgain, (req, res) => {
          res.json({ status: req.mfa?.status })
        })
      },
    })
    const agent = await signInFully({ app, standIn }, 'bob')
    const { approval } = (await agent.post('/pay').send(BILL).expect(401)).body
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval: approval.id }).expect(200)
    const given = { code: standIn.newestCode(), approval: approval.id }
    await agent.post('/own-verify').send(given).expect(200, { status: 'pending' })
    await agent.post('/pay').send(BILL).expect(401)
  })
})
