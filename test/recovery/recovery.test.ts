import { describe, expect, it } from 'vitest'
import { type PolicyDecision, requireMfa } from '../../src/index.js'
import { DAY, HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, host, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import { itWithSession } from '../kit/transports.js'
import { signInAndTrust } from '../trust/kit.js'
import { recoveringHost, requestRecovery, signInBy, signInByApp, tokenIn } from './kit.js'

const CONTACTS = ['alice@example.com', '+447700900101']

describe('a recovery (R94)', () => {
  it('is requested after the password and a weaker factor, and notifies every contact at once', async () => {
    stopClock()
    const made = recoveringHost()
    const { agent, body } = await requestRecovery(made)
    expect(body).toEqual({
      status: 'waiting',
      readyAt: new Date(Date.now() + DAY).toISOString(),
      expiresAt: new Date(Date.now() + 4 * DAY).toISOString(),
    })
    expect(made.toldContacts('recovery_requested').sort()).toEqual([...CONTACTS].sort())
    const links = made.sent.map(({ notice }) => tokenIn(notice))
    expect(new Set(links).size).toBe(2)
    expect(made.newest('recovery_requested')).toMatchObject({
      subject: 'Testbed: account recovery requested',
      readyAt: Date.now() + DAY,
    })
    expect(made.told('recovery_requested')).toMatchObject([{ userId: 'u-ali', readyAt: Date.now() + DAY }])
    expect((await agent.get('/mfa/recover').expect(200)).body.status).toBe('waiting')
  })

  it('notifies the phone with a text that fits one message, with the link', async () => {
    const made = recoveringHost()
    await requestRecovery(made)
    const { shortText = '', cancelUrl = '' } = made.newest('recovery_requested', '+447700900101')
    expect(shortText).toMatch(/^Testbed: someone requested recovery of your account\./)
    expect(shortText.endsWith(` ${cancelUrl}`)).toBe(true)
    expect(made.newest('recovery_requested').inLanguage('de').shortText).toMatch(/Nicht Sie\? Abbrechen:/)
  })

  it('notifies every contact again at half time, once, whichever request comes first', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    clock.move(12 * HOUR - 1)
    await jsonAgent(made.app).get('/secret')
    expect(made.toldContacts('recovery_reminder')).toEqual([])
    clock.move(1 + MINUTE)
    await Promise.all(Array.from({ length: 20 }, () => jsonAgent(made.app).get('/secret')))
    await expect.poll(() => made.toldContacts('recovery_reminder')).toHaveLength(2)
    clock.move(MINUTE)
    await jsonAgent(made.app).get('/secret')
    await signInBy(made, 'alice')
    expect(made.toldContacts('recovery_reminder').sort()).toEqual([...CONTACTS].sort())
    expect(made.newest('recovery_reminder').subject).toBe('Testbed: account recovery will complete soon')
    expect(made.told('recovery_reminded')).toHaveLength(1)
  })

  itWithSession(
    'takes the user to enrollment after 24 hours, and ends the old factor, other sessions and trusted devices',
    async () => {
      const clock = stopClock()
      const made = recoveringHost()
      const { app, standIn } = made
      const owner = await signInByApp(made)
      await requestRecovery(made)
      clock.move(12 * HOUR)
      expect(await made.sendDueNotices()).toBe(1)
      clock.move(12 * HOUR)

      const { agent, body } = await signInBy(made, 'alice')
      expect(body).toEqual({ status: 'verified', next: '/mfa/recover' })
      expect((await agent.get('/mfa/recover').expect(200)).body.status).toBe('ready')
      await agent.post('/mfa/recover/complete').send({}).expect(200, {
        status: 'completed',
        next: '/mfa/enroll-app',
      })
      expect(made.ended.map(({ factors }) => factors)).toEqual([
        [{ id: 'app', method: 'app', contact: 'alice@example.com' }],
      ])
      expect(made.told('recovery_completed')).toMatchObject([{ userId: 'u-ali', methods: ['app'] }])
      expect(made.toldContacts('recovery_completed').sort()).toEqual([...CONTACTS].sort())
      await owner.get('/secret').expect(401)
      expect((await agent.get('/mfa').expect(200)).body.enroll).toBe('/mfa/enroll-app')

      await agent.post('/mfa/enroll-app').send({}).expect(200)
      await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
      await agent.get('/secret').expect(200)
      expect((await agent.get('/mfa')).body).toMatchObject({ status: 'verified' })

      clock.move(SECOND)
      standIn.setApp('alice@example.com', '987654')
      const next = await signIn(app, 'alice')
      await verify(next, '987654', { factor: 'app' }).expect(200)
      await next.get('/secret').expect(200)
    },
  )

  it('ends trusted devices when it is completed', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await signInAndTrust(made, 'alice')
    await requestRecovery(made)
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    clock.move(12 * HOUR)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover/complete').send({}).expect(200)
    expect(made.told('devices_revoked')).toMatchObject([{ count: 1, why: 'recovery' }])
  })

  it('requires the new factor at every sign-in until it is set up, whatever the policy and the factors of the host', async () => {
    const clock = stopClock()
    let decision: PolicyDecision = 'require'
    const made = recoveringHost({ forgets: false, options: { policy: () => decision } })
    await requestRecovery(made)
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    clock.move(12 * HOUR)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover/complete').send({}).expect(200)

    decision = 'skip'
    clock.move(SECOND)
    const { agent: later, body } = await signInBy(made, 'alice')
    expect(body).toEqual({ status: 'enrollment_required', next: '/mfa/enroll-app' })
    await later.get('/secret').expect(401)
    await challenge(later, 'email').expect(403)
    expect((await later.post('/mfa/backup').send({})).body.code).toBe('enrollment_required')
    await later.post('/mfa/enroll-app').send({}).expect(200)
    await later.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await later.get('/secret').expect(200)
  })

  it('is canceled by a sign-in with the strong factor, and notifies every contact', async () => {
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    await signInByApp(made)
    expect((await agent.get('/mfa/recover')).body).toEqual({ status: 'none' })
    expect(made.told('recovery_canceled')).toMatchObject([{ by: 'strong_factor' }])
    expect(made.toldContacts('recovery_canceled').sort()).toEqual([...CONTACTS].sort())
  })

  it('is not canceled by another weaker factor', async () => {
    const made = recoveringHost()
    await requestRecovery(made)
    const { agent } = await signInBy(made, 'alice', 'sms')
    expect((await agent.get('/mfa/recover')).body.status).toBe('waiting')
  })

  it('is canceled by the signed-in user', async () => {
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    await agent.post('/mfa/recover/cancel').send({}).expect(200, { status: 'canceled' })
    expect((await agent.post('/mfa/recover/cancel').send({}).expect(404)).body.code).toBe('no_recovery')
    expect((await agent.get('/mfa/recover')).body).toEqual({ status: 'none' })
  })

  it('is canceled by the link of each message, without a sign-in: GET shows a page, POST cancels', async () => {
    for (const contact of CONTACTS) {
      const made = recoveringHost()
      await requestRecovery(made)
      const token = tokenIn(made.newest('recovery_requested', contact))
      const browser = browserAgent(made.app)
      const page = await browser.get(`/mfa/cancel-recovery?token=${token}`).expect(200)
      expect(page.text).toContain('Cancel the account recovery?')
      await jsonAgent(made.app).get(`/mfa/cancel-recovery?token=${token}`).expect(200, { status: 'open' })
      expect(made.told('recovery_canceled')).toEqual([])

      const done = await browser.post('/mfa/cancel-recovery').type('form').send({ token }).expect(303)
      expect((await browser.get(done.headers.location ?? '')).text).toContain('The recovery is canceled')
      expect(made.told('recovery_canceled')).toMatchObject([{ by: 'link' }])
    }
  })

  it('is canceled by the link of the reminder too', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    const token = tokenIn(made.newest('recovery_reminder'))
    await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token }).expect(200, { status: 'canceled' })
  })

  it('waits for the period in the options', async () => {
    const clock = stopClock()
    const made = recoveringHost({ options: { recovery: { waitingPeriod: '1h' } as never } })
    await requestRecovery(made)
    clock.move(HOUR / 2)
    await made.sendDueNotices()
    clock.move(HOUR / 2 - 1)
    const early = await signInBy(made, 'alice')
    const { body, headers } = await early.agent.post('/mfa/recover/complete').send({}).expect(409)
    expect(body.code).toBe('recovery_waiting')
    expect(headers['retry-after']).toBe('1')
    clock.move(1)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover/complete').send({}).expect(200)
  })

  itWithSession('waits a quarter of the period after a reminder that was sent late', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    clock.move(30 * HOUR)
    const { agent } = await signInBy(made, 'alice')
    expect(made.toldContacts('recovery_reminder')).toHaveLength(2)
    expect((await agent.get('/mfa/recover')).body).toMatchObject({
      status: 'waiting',
      readyAt: new Date(Date.now() + 6 * HOUR).toISOString(),
    })
    clock.move(6 * HOUR)
    const { body } = await signInBy(made, 'alice')
    expect(body.next).toBe('/mfa/recover')
  })

  it('ends three days after the waiting period', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    clock.move(12 * HOUR + 3 * DAY)
    const { agent, body } = await signInBy(made, 'alice')
    expect(body.next).toBe('/')
    expect((await agent.post('/mfa/recover/complete').send({}).expect(404)).body.code).toBe('no_recovery')
    expect((await agent.post('/mfa/recover').send({}).expect(200)).body.status).toBe('waiting')
    expect(made.toldContacts('recovery_requested')).toHaveLength(4)
  })

  it('is requested in a pending login by showing a weaker factor first', async () => {
    const made = recoveringHost()
    const agent = browserAgent(made.app)
    await login(agent, 'alice').type('form')
    const entry = await agent.get('/mfa/verify?factor=app').expect(200)
    expect(entry.text).toContain('href="/mfa/recover"')
    expect((await agent.get('/mfa/recover').expect(200)).text).toContain('Request recovery')
    await agent.post('/mfa/recover').type('form').send({}).expect(303).expect('Location', '/mfa?choose')
    const choice = (await agent.get('/mfa?choose').expect(200)).text
    expect(choice).toContain('<h1>Recover your account</h1>')
    expect(choice).toContain('with an option that you still have')
    expect(choice).not.toContain('Use your authenticator app')
    expect((await agent.get('/mfa?choose=all').expect(200)).text).toContain('Use your authenticator app')
    await challenge(agent, 'email').type('form').expect(303)
    const code = made.standIn.newestCode()
    await verify(agent, code).type('form').expect(303).expect('Location', '/mfa/recover')
    expect((await agent.get('/mfa/recover').expect(200)).text).toContain('Your recovery is waiting')
  })

  itWithSession('is not requested by a factor that was shown for something else, or too late', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent } = await signInBy(made, 'alice')
    const browser = agent.set('Accept', 'text/html')
    clock.move(5 * MINUTE)
    await browser.post('/mfa/recover').type('form').send({}).expect(303).expect('Location', '/mfa?choose')
    // The step-up is for a page of the host now.
    await browser.post('/transfer').type('form').send({}).expect(303)
    await challenge(browser, 'email').type('form').expect(303)
    await verify(browser, made.standIn.newestCode()).type('form').expect(303).expect('Location', '/')
    expect((await browser.get('/mfa/recover').expect(200)).text).toContain('Request recovery')
    clock.move(5 * MINUTE)
    await browser.post('/mfa/recover').type('form').send({}).expect(303)
    clock.move(10 * MINUTE)
    await challenge(browser, 'email').type('form').expect(303)
    await verify(browser, made.standIn.newestCode())
      .type('form')
      .expect(303)
      .expect('Location', '/mfa/recover')
    expect((await browser.get('/mfa/recover').expect(200)).text).toContain('Request recovery')
  })

  it('is not offered to a user who has nothing weaker to show', async () => {
    const standIn = standInService()
    Object.assign(standIn.service, { factorsOf: async () => ({ existing: [], backupCodesLeft: 0 }) })
    const agent = browserAgent(recoveringHost({ standIn }).app)
    await login(agent, 'bob').type('form')
    expect((await agent.get('/mfa').expect(200)).text).not.toContain('/mfa/recover')
    const owner = browserAgent(recoveringHost({ standIn }).app)
    await login(owner, 'alice').type('form')
    expect((await owner.get('/mfa').expect(200)).text).toContain('/mfa/recover')
  })

  itWithSession('requires a factor of the last five minutes', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent } = await signInBy(made, 'alice')
    clock.move(5 * MINUTE)
    expect((await agent.post('/mfa/recover').send({}).expect(401)).body.code).toBe('step_up_required')
    clock.move(30 * SECOND)
    await challenge(agent, 'email').expect(200)
    const { body } = await verify(agent, made.standIn.newestCode()).expect(200)
    expect(body.next).toBe('/mfa/recover')
    await agent.post('/mfa/recover').send({}).expect(200)
  })

  it('is refused to users who do not need it', async () => {
    const made = recoveringHost()
    const owner = await signInByApp(made)
    expect((await owner.post('/mfa/recover').send({}).expect(409)).body.code).toBe('recovery_not_needed')
    const { agent: bob } = await signInBy(made, 'bob', 'sms')
    expect((await bob.post('/mfa/recover').send({}).expect(409)).body.code).toBe('recovery_not_needed')
    const nina = await signIn(made.app, 'nina')
    expect((await nina.post('/mfa/recover').send({}).expect(403)).body.code).toBe('enrollment_required')
    expect(made.sent).toEqual([])
  })

  it('is refused to a user without a weaker factor', async () => {
    const made = recoveringHost({ options: { pages: { help: 'Call 0800 123.' } } })
    made.standIn.setApp('otto@example.com', '424242')
    const agent = browserAgent(made.app)
    await login(agent, 'otto').type('form')
    await verify(agent, '424242', { factor: 'app' }).type('form').expect(303)
    const page = await agent.get('/mfa/recover').expect(200)
    expect(page.text).toContain('Call 0800 123.')
    expect(page.text).not.toContain('<form method="post" action="/mfa/recover"')
  })

  it('is not started when no contact can be notified', async () => {
    const made = recoveringHost({
      options: { recovery: { onNotice: () => Promise.reject(new Error('no mail server')) } as never },
    })
    const { agent } = await signInBy(made, 'alice')
    expect((await agent.post('/mfa/recover').send({}).expect(503)).body.code).toBe('recovery_not_notified')
    expect((await agent.get('/mfa/recover')).body).toEqual({ status: 'none' })
    expect(made.told('recovery_requested')).toEqual([])
  })

  it('notifies the contacts that the host adds', async () => {
    const made = recoveringHost({
      options: { recovery: { contacts: () => ['spare@example.com', 'ALSO BAD'] } as never },
    })
    await requestRecovery(made)
    expect(made.toldContacts('recovery_requested')).toContain('spare@example.com')
    expect(made.toldContacts('recovery_requested')).toHaveLength(3)
  })

  it('counts among the messages of the account', async () => {
    const made = recoveringHost()
    const { agent } = await signInBy(made, 'alice')
    for (let nth = 0; nth < 4; nth++) {
      await agent.post('/mfa/recover').send({}).expect(200)
      await agent.post('/mfa/recover/cancel').send({}).expect(200)
    }
    const { body } = await agent.post('/mfa/recover').send({}).expect(429)
    expect(body.code).toBe('too_many_messages')
    expect((await agent.get('/mfa/recover')).body).toEqual({ status: 'none' })
  })

  it('has no routes without the option', async () => {
    const made = host()
    const { agent } = await signInBy(made, 'alice')
    await agent.get('/mfa/recover').expect(404)
    await agent.post('/mfa/recover').send({}).expect(404)
    await agent.post('/mfa/cancel-recovery').send({ token: 'x' }).expect(404)
    expect((await agent.set('Accept', 'text/html').get('/mfa?choose')).text).not.toContain('/mfa/recover')
  })

  it('appears in the metrics', async () => {
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    await agent.post('/mfa/recover/cancel').send({}).expect(200)
    expect(made.metrics().recoveries).toEqual({ requested: 1, canceled: 1, completed: 0 })
  })

  itWithSession('does not lower what a route requires before it is completed', async () => {
    const made = recoveringHost({
      routes: (app) => {
        app.post(
          '/strong',
          requireMfa({ minStrength: 'strong' }),
          (_req, res) => void res.json({ done: true }),
        )
      },
    })
    const clock = stopClock()
    const { agent } = await requestRecovery(made)
    const expectClosed = async (by: typeof agent) => {
      await by.get('/secret').expect(200)
      for (const path of ['/strong', '/mfa/enroll-app', '/mfa/backup']) {
        expect((await by.post(path).send({}).expect(401)).body.code, path).toBe('step_up_required')
      }
    }
    await expectClosed(agent)
    await agent.post('/mfa/recover/complete').send({}).expect(409)
    await expectClosed(agent)
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    clock.move(12 * HOUR)
    const { agent: later } = await signInBy(made, 'alice')
    await expectClosed(later)
    await later.post('/mfa/recover/complete').send({}).expect(200)
    await later.post('/mfa/enroll-app').send({}).expect(200)
  })
})
