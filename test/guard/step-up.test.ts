import express from 'express'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, jsonAgent, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const MINUTE_MS = 60_000

afterEach(() => {
  vi.useRealTimers()
})

const payments = () => {
  const done: unknown[] = []
  const made = host({
    routes: (app) => {
      app.post(
        '/pay',
        express.urlencoded({ extended: false }),
        requireMfa({
          maxAge: '5m',
          resume: ['amount', { name: 'to', label: { en: 'Recipient', de: 'Empfängerin' } }],
          resumeTitle: { en: 'Confirm your transfer', de: 'Überweisung bestätigen' },
        }),
        (req, res) => {
          done.push({ ...req.body })
          res.send('paid')
        },
      )
      app.get(
        '/statement',
        requireMfa({ maxAge: '5m' }),
        (req, res) => void res.send(`statement of ${req.query.year}`),
      )
      app.post('/strong', requireMfa({ minStrength: 'strong' }), (_req, res) => void res.json({ done: true }))
      app.post(
        '/app-only',
        requireMfa({ methods: ['app', 'backup'] }),
        (_req, res) => void res.json({ done: true }),
      )
      app.post(
        '/not-by-mail',
        requireMfa({ minStrength: 'medium' }),
        (_req, res) => void res.json({ done: true }),
      )
    },
  })
  return { ...made, done }
}

/** A browser whose second factor is ten minutes old. */
async function signedInLongAgo({ app, standIn }: Pick<Host, 'app' | 'standIn'>) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const agent = browserAgent(app)
  await login(agent, 'bob').type('form')
  await challenge(agent, 'sms').type('form')
  await verify(agent, standIn.newestCode()).type('form').expect(303)
  vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
  return agent
}

describe('a step-up', () => {
  it('offers only the factors that count for the route, and accepts one of them', async () => {
    const { app, standIn } = payments()
    standIn.setApp('alice@example.com', '424242')
    const agent = await signInFully({ app, standIn }, 'alice', 'sms')
    const asked = await agent.post('/strong').expect(401)
    expect(asked.body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app', method: 'app' }] })
    expect(asked.body.factors).toHaveLength(1)
    const page = await agent.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).toContain('/mfa/verify?factor=app')
    expect(page.text).not.toContain('••• 01')

    // A fresh factor that does not count changes nothing.
    await challenge(agent, 'email').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    await agent.post('/strong').expect(401)
    await agent.post('/app-only').expect(401)
    await verify(agent, '424242', { factor: 'app' }).expect(200)
    await agent.post('/strong').expect(200)
    await agent.post('/app-only').expect(200)
  })

  it('counts email as weak and SMS as medium', async () => {
    const { app, standIn } = payments()
    const byMail = await signInFully({ app, standIn }, 'alice', 'email')
    expect(
      (await byMail.post('/not-by-mail').expect(401)).body.factors.map(({ id }: { id: string }) => id),
    ).toEqual(['app', 'sms'])
    const bySms = await signInFully({ app, standIn }, 'bob', 'sms')
    await bySms.post('/not-by-mail').expect(200)
  })

  it('asks a user without a factor that counts to set one up', async () => {
    const { app, standIn } = payments()
    const agent = await signInFully({ app, standIn }, 'bob', 'sms')
    const asked = await agent.post('/strong').expect(403)
    expect(asked.body).toMatchObject({ code: 'enrollment_required', next: '/mfa/enroll-app' })
  })

  it('says to a user without any factor why one is needed, and offers what can be set up, with a way back', async () => {
    const made = host({ options: { pages: { addFactorPath: '/account/phone' } } })
    const nina = browserAgent(made.app)
    await login(nina, 'nina').type('form')
    const why = '/mfa/enroll-app?required'
    await nina.post('/transfer').type('form').send({}).expect(303).expect('Location', why)
    for (const path of ['/mfa', '/mfa/backup']) await nina.get(path).expect(303).expect('Location', why)
    const { text } = await nina.get(why).expect(200)
    expect(text).toContain('Set up two-step verification first')
    expect(text).toContain('This part of Testbed is only for accounts with two-step verification')
    expect(text).toContain('href="/account/phone">Add a phone number or email address')
    expect(text).toContain('href="/">Not now')
  })

  it('measures the age of the factor that counts, not of the latest one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { app, standIn } = payments()
    standIn.setApp('alice@example.com', '424242')
    const agent = await signIn(app, 'alice')
    await verify(agent, '424242', { factor: 'app' }).expect(200)
    vi.setSystemTime(Date.now() + 15 * MINUTE_MS - 1)
    await agent.post('/strong').expect(200)
    await challenge(agent, 'sms').expect(200)
    await verify(agent, standIn.newestCode()).expect(200)
    vi.setSystemTime(Date.now() + 1)
    await agent.post('/strong').expect(401)
    await agent.post('/not-by-mail').expect(200)
  })

  it('returns to the blocked GET with its query', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent.get('/statement?year=2026&page=2').expect(303).expect('Location', '/mfa')
    await challenge(agent, 'sms').type('form').expect(303)
    await verify(agent, '000 00x').type('form').redirects(1).expect(200)
    await verify(agent, standIn.newestCode())
      .type('form')
      .expect(303)
      .expect('Location', '/statement?year=2026&page=2')
    expect((await agent.get('/statement?year=2026&page=2').expect(200)).text).toBe('statement of 2026')
  })

  it('offers a blocked POST again with its fields, and repeats it only at a click', async () => {
    const { app, standIn, done } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent.post('/pay').type('form').send({ amount: '20', to: 'Ana <b>', pin: '9999' }).expect(303)
    await agent.get('/mfa/resume').expect(303).expect('Location', '/mfa')
    await challenge(agent, 'sms').type('form')
    await verify(agent, standIn.newestCode()).type('form').expect(303).expect('Location', '/mfa/resume')
    const offer = await agent.get('/mfa/resume').expect(200)
    expect(offer.text).toContain('action="/pay"')
    expect(offer.text).toContain('name="amount" value="20"')
    expect(offer.text).toContain('<dt><bdi>Amount</bdi></dt><dd><bdi>20</bdi></dd>')
    expect(offer.text).toContain('<dt><bdi>Recipient</bdi></dt><dd><bdi>Ana &lt;b&gt;</bdi></dd>')
    const german = await agent.get('/mfa/resume').set('Accept-Language', 'de-CH').expect(200)
    expect(german.text).toContain('<dt><bdi>Empfängerin</bdi></dt>')
    expect(offer.text).toContain('<h1>Confirm your transfer</h1>')
    expect(german.text).toContain('<h1>Überweisung bestätigen</h1>')
    expect(offer.text).not.toContain('9999')
    expect(done).toEqual([])
    await agent.post('/pay').type('form').send({ amount: '20', to: 'Ana <b>' }).expect(200)
    expect(done).toHaveLength(1)
    // The POST was repeated, so it is no longer offered.
    await agent.get('/mfa/resume').expect(303)
  })

  it('never offers a POST from another site again (R13)', async () => {
    const { app, standIn } = payments()
    const agent = await signedInLongAgo({ app, standIn })
    await agent
      .post('/pay')
      .set('Sec-Fetch-Site', 'cross-site')
      .type('form')
      .send({ amount: '1000', to: 'mallory' })
      .expect(303)
    await challenge(agent, 'sms').type('form')
    await verify(agent, standIn.newestCode()).type('form').expect('Location', '/')
    await agent.get('/mfa/resume').expect(303).expect('Location', '/')
  })

  it('rejects a rule that cannot be kept when the app starts (R18)', () =>
    everyCase(
      [
        { resume: 'amount' },
        { resume: ['a b'] },
        { resume: [{ name: 'amount', label: '' }] },
        { resume: [{ name: 'amount', label: 'x'.repeat(81) }] },
        { resume: [{ name: 'amount', label: true }] },
        { resume: [{ name: 'amount', labels: 'Amount' }] },
        { resume: [{ label: 'Amount' }] },
        { maxAge: '29s' },
        { maxAge: 29_999 },
        { maxAge: '25h' },
        { maxAge: '5' },
        { maxAge: -1 },
        { maxAge: null },
        { methods: [] },
        { methods: ['pigeon'] },
        { minStrength: 'huge' },
        { methods: ['email'], minStrength: 'strong' },
      ],
      (rule) => {
        expect(() => requireMfa(rule as never)).toThrow(/requireMfa: /)
      },
    ))

  it('accepts every maximum age in the range', () =>
    everyCase(['30s', 30_000, '24h', undefined] as const, (maxAge) => {
      expect(requireMfa({ maxAge })).toBeInstanceOf(Function)
    }))

  it('sends a user who is not signed in to the sign-in page', async () => {
    const { app } = payments()
    const agent = browserAgent(app)
    await agent.post('/pay').type('form').send({ amount: '20' }).expect(303).expect('Location', '/login')
    await jsonAgent(app).post('/pay').send({}).expect(401)
  })
})
