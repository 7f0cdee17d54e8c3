import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY, HOUR, SECOND, stopClock } from '../../test/kit/clock.js'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { SEED_USERS } from '../src/seed-users.js'
import { type Browser, openTestVault, passwordOf, type TestVault } from './kit.js'

const URL = 'http://localhost:3000'

describe('Vault (R94, R95)', () => {
  let vault: TestVault

  beforeAll(async () => {
    vault = await openTestVault({ PUBLIC_URL: URL, VAULT_STAFF: 'alice,otto' })
  })
  afterAll(() => vault.close())

  const logIn = async (browser: Browser, username: string) => {
    await browser
      .post('/login')
      .send({ username, password: passwordOf(username) })
      .expect(200)
    return browser
  }
  const byText = async (username: string, to: string) => {
    const browser = await logIn(vault.browser(), username)
    await challenge(browser, 'sms').expect(200)
    const { body } = await verify(browser, await vault.codeSentTo(to)).expect(200)
    return { browser, body: body as { next: string; status: string } }
  }

  it('recovers the account of a user who lost the authenticator app', async () => {
    const clock = stopClock()
    const alice = SEED_USERS.find(({ username }) => username === 'alice')
    const phone = alice?.phone ?? ''
    const { browser } = await byText('alice', phone)
    await browser.post('/mfa/recover').send({}).expect(200)
    for (const to of [phone, alice?.email ?? '']) {
      const messages = (await vault.context.inbox?.messages({ to })) ?? []
      const notice = messages.find((one) => one.text.includes(`${URL}/mfa/cancel-recovery?token=`))
      expect(notice?.channel).toBe(to === phone ? 'sms' : 'email')
    }
    clock.move(DAY / 2)
    await vault.browser().get('/me').expect(200)
    await expect
      .poll(async () => (await vault.context.inbox?.messages({ to: phone }))?.[0]?.text)
      .toContain('still waiting')
    clock.move(DAY / 2)

    const { browser: later, body } = await byText('alice', phone)
    expect(body.next).toBe('/mfa/recover')
    await later.post('/mfa/recover/complete').send({}).expect(200)
    expect(await vault.context.users.findByName('alice')).toMatchObject({
      kept: { app: false },
      methods: ['sms', 'email'],
    })
    await browser.get('/vault').expect(401)
    await later.get('/vault').expect(401)
    const { body: app } = await later.post('/mfa/enroll-app').send({}).expect(200)
    expect(app.secret).toMatch(/^[A-Z2-7]{32,}$/)
  })

  it('lets staff reset an account, and the user in with the bypass code', async () => {
    const clock = stopClock()
    clock.move(3 * DAY)
    const bob = await vault.context.users.findByName('bob')
    if (!bob) throw new Error('expected bob')
    const { code } = await vault.context.mfa.account.reset(bob, {
      by: 'alice',
      approvedBy: 'otto',
      reason: 'Lost phone',
    })
    expect(await vault.context.users.findByName('bob')).toMatchObject({ methods: [], kept: { app: false } })
    clock.move(SECOND)
    const browser = await logIn(vault.browser(), 'bob')
    await browser.get('/vault').expect(401)
    await browser.post('/mfa/verify').send({ factor: 'bypass', code }).expect(200)
    await browser.post('/mfa/enroll-app').send({}).expect(200)
    clock.move(HOUR)
  })

  it('shows the page for staff only to staff with a strong factor', async () => {
    const { browser: mallory } = await byText('mallory', '+12025550144')
    await mallory.get('/admin').expect(404)
    await mallory.post('/admin/resets').send({ username: 'bob', reason: 'x' }).expect(404)
    await mallory.post('/admin/resets/approve').send({ id: 'x' }).expect(404)
    expect((await mallory.get('/account').accept('text/html')).text).not.toContain('Help desk')
    await vault.browser().get('/admin').expect(401)
  })
})
