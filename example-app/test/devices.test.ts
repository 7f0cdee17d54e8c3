import { afterAll, beforeAll, expect, it } from 'vitest'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { type Browser, expectStatus, openTestVault, passwordOf, signIn, type TestVault } from './kit.js'

let vault: TestVault

beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const MALLORY = '+12025550144'

/** Signs mallory in with both factors, in a browser that is trusted from then on. */
async function trustedBrowser(): Promise<Browser> {
  const browser = vault.browser()
  await signIn(browser, 'mallory').then(expectStatus(200))
  await challenge(browser, 'sms').then(expectStatus(200))
  const code = await vault.codeSentTo(MALLORY)
  const { body } = await verify(browser, code, { trust: true }).then(expectStatus(200))
  expect(body).toEqual({ status: 'verified', next: '/', trusted: true })
  return browser
}

it('a trusted browser signs in by password alone, cannot withdraw without a second factor, and loses its trust with the password (R66, R67, R68)', async () => {
  const browser = await trustedBrowser()
  await browser.post('/logout').then(expectStatus(200))
  const again = await signIn(browser, 'mallory')
  expect(again.body).toEqual({ status: 'signed_in', next: '/' })
  const me = await browser.get('/me')
  expect(me.body).toEqual({
    user: { username: 'mallory' },
    mfa: { status: 'none', amr: [], verifiedAt: null },
  })
  await browser.get('/vault').then(expectStatus(200))
  const refused = await browser.post('/vault/withdraw').send({ amount: 1 }).then(expectStatus(401))
  expect(refused.body.code).toBe('step_up_required')

  const account = await browser.get('/account').set('Accept', 'text/html')
  expect(account.text).toContain('href="/mfa/devices"')
  expect(account.text).toContain('you trust this browser')
  const list = await browser.get('/mfa/devices').then(expectStatus(200))
  expect(list.body.devices).toMatchObject([{ current: true }])

  const user = await vault.context.users.findByName('mallory')
  await vault.context.users.changePassword(user?.id ?? 0, passwordOf('mallory'))
  const changed = await signIn(browser, 'mallory')
  expect(changed.body).toEqual({ status: 'mfa_required', next: '/mfa' })
})

it('customers get an email about a trusted browser, and its link ends all sessions (R63)', async () => {
  const browser = await trustedBrowser()
  const mailbox = 'mallory@vault.example'
  const { messages } = (await browser.get(`/inbox?to=${mailbox}`).then(expectStatus(200))).body
  const email = messages.find(({ subject }: { subject: string }) => subject.includes('trusted browser'))
  expect(email).toMatchObject({ channel: 'email', to: mailbox, subject: 'Vault: new trusted browser' })
  const link = /^http:\/\/localhost:3000(\/mfa\/not-me\?token=(\S+))$/m.exec(email.text)
  const recipient = vault.browser()
  await recipient.get(link?.[1] ?? '').then(expectStatus(200))
  await browser.get('/vault').then(expectStatus(200))
  await recipient.post('/mfa/not-me').send({ token: link?.[2] }).then(expectStatus(200))
  await browser.get('/vault').then(expectStatus(401))
  expect((await signIn(browser, 'mallory')).body.status).toBe('mfa_required')
  const [answer] = (await browser.get(`/inbox?to=${mailbox}`)).body.messages
  expect(answer.subject).toBe('Vault: your account was secured')
})
