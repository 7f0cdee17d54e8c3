import { describe, expect, it } from 'vitest'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { testService, totpCode } from '../../src/testing/service.js'
import { approveChange, byCode } from '../kit/approved-change.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, jsonAgent } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { recoveringHost, waitForRecovery } from '../recovery/kit.js'

/** Otto, who has an authenticator app only, and backup codes that a page showed him. */
async function ottoWithCodes() {
  const clock = stopClock()
  const inbox = testInbox()
  const kit = testService(testCarrier(inbox))
  const made = recoveringHost({ options: { service: kit.service } })
  made.users.otto?.factors.splice(0)
  const secret = kit.enroll('otto@example.com')
  const owner = jsonAgent(made.app)
  await login(owner, 'otto').expect(200)
  await verify(owner, totpCode(secret, Date.now()), { factor: 'app' }).expect(200)
  clock.move(30 * SECOND)
  const code = () => totpCode(secret, Date.now())
  await approveChange(owner, '/mfa/backup/codes', byCode(owner, code))
  const { body } = await owner.post('/mfa/backup/codes').send({}).expect(200)
  const codes = body.codes as string[]
  clock.move(MINUTE)
  return { ...made, kit, inbox, clock, codes }
}

/** Otto has lost the app and completes a recovery with two of the codes, and closes the browser. */
async function recovered() {
  const made = await ottoWithCodes()
  const { app, clock, codes } = made
  const first = jsonAgent(app)
  await login(first, 'otto').expect(200)
  await verify(first, codes[0], { factor: 'backup' }).expect(200)
  await first.post('/mfa/recover').send({}).expect(200)
  await waitForRecovery(made, clock)
  const second = jsonAgent(app)
  await login(second, 'otto').expect(200)
  await verify(second, codes[1], { factor: 'backup' }).expect(200)
  await second.post('/mfa/recover/complete').send({}).expect(200)
  clock.move(SECOND)
  return made
}

describe('a user with an app only, who completed a recovery and closed the browser (R94, R138)', () => {
  it('continues with another backup code that was shown on a page', async () => {
    const { app, codes } = await recovered()
    const agent = jsonAgent(app)
    await login(agent, 'otto').expect(200)
    const { body: asked } = await agent.get('/mfa').expect(200)
    expect(asked).toMatchObject({ status: 'pending', factors: [] })
    const { body } = await verify(agent, codes[2], { factor: 'backup' }).expect(200)
    expect(body).toEqual({ status: 'enrollment_required', next: '/mfa/enroll-app' })
    const { body: shown } = await agent.post('/mfa/enroll-app').send({}).expect(200)
    const code = totpCode(shown.secret, Date.now())
    await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('finds the form for the code on a page', async () => {
    const { app, codes } = await recovered()
    const browser = browserAgent(app)
    await login(browser, 'otto').type('form')
    await browser.get('/secret').expect(303).expect('Location', '/mfa')
    const choice = await browser.get('/mfa').expect(200)
    expect(choice.text).toContain('factor=backup')
    expect((await browser.get('/mfa/verify?factor=backup').expect(200)).text).toContain('Backup code')
    await verify(browser, codes[2], { factor: 'backup' })
      .type('form')
      .expect(303)
      .expect('Location', '/mfa/enroll-app')
    await browser.get('/mfa/enroll-app').expect(200)
  })

  it('is refused a code that was sent, whatever the service says of the user’s codes', async () => {
    const { app, kit, codes } = await recovered()
    const { verify: evaluate } = kit.service
    kit.service.verify = async (request) => {
      const answer = await evaluate(request)
      return answer.outcome === 'valid' ? { outcome: 'valid', kind: 'backup' } : answer
    }
    const agent = jsonAgent(app)
    await login(agent, 'otto').expect(200)
    const { body } = await verify(agent, codes[2], { factor: 'backup' }).expect(401)
    expect(body.code).toBe('invalid_code')
    await agent.post('/mfa/enroll-app').send({}).expect(401)
  })

  it('is refused a wrong code, within the usual limits, and another user’s', async () => {
    const { app } = await recovered()
    const agent = jsonAgent(app)
    await login(agent, 'otto').expect(200)
    for (let nth = 0; nth < 5; nth++) {
      const { body } = await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(401)
      expect(body.code).toBe('invalid_code')
    }
    await verify(agent, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(429)
    await agent.post('/mfa/enroll-app').send({}).expect(401)
  })

  it('sees a page that says so when no code is left', async () => {
    const { app, kit, codes } = await recovered()
    for (const code of codes.slice(2)) {
      await kit.service.verify({
        contact: { kind: 'email', email: 'otto@example.com' },
        method: 'app',
        kind: 'backup',
        code: code.replaceAll('-', ''),
      } as never)
    }
    const browser = browserAgent(app)
    await login(browser, 'otto').type('form')
    const page = await browser.get('/mfa').expect(200)
    expect(page.text).toContain('Please contact')
    const { body } = await jsonAgent(app).get('/mfa')
    expect(body.status).toBe('none')
  })
})

describe('a backup code that a mailbox received (R93)', () => {
  it('is worth no more than the mailbox when the mailbox is no factor any more', async () => {
    const { app, kit, inbox } = await ottoWithCodes()
    await kit.service.sendBackupCodes({
      contact: { kind: 'email', email: 'otto@example.com' },
      method: 'email',
    } as never)
    const sent = inbox.all()[0]?.codes[0]
    const agent = jsonAgent(app)
    await login(agent, 'otto').expect(200)
    await verify(agent, sent, { factor: 'backup' }).expect(200)
    const { body } = await agent.post('/mfa/enroll-app').send({}).expect(401)
    expect(body.code).toBe('step_up_required')
  })
})
