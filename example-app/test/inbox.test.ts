import supertest from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { challenge } from '../../test/kit/sign-in.js'
import { createApp } from '../src/app.js'
import { seedAppCode } from '../src/seed-apps.js'
import { INBOX_KEY, openTestVault, passwordOf, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

describe('the development inbox', () => {
  it('lists all messages, newest first, or those of one contact', async () => {
    for (const [username, factor] of [
      ['bob', 'sms'],
      ['dora', 'dual'],
    ] as const) {
      const browser = vault.browser()
      await signIn(browser, username)
      await challenge(browser, factor).expect(200)
    }
    const { body } = await vault.browser().get('/inbox').expect(200)
    expect(
      body.messages
        .map((message: { to: string }) => message.to)
        .slice(0, 2)
        .sort(),
    ).toEqual(['+12025550133', 'dora@vault.example'])
    for (const message of body.messages) {
      expect(message).toMatchObject({ channel: expect.any(String), text: expect.any(String) })
      expect(new Date(message.at).toISOString()).toBe(message.at)
    }
    const one = await vault.browser().get('/inbox').query({ to: '+12025550122' }).expect(200)
    expect(one.body.messages).toHaveLength(1)
    expect(one.body.messages[0]).toMatchObject({ channel: 'sms', to: '+12025550122' })
  })

  it('is linked from the page that asks for a code, without its key (R145)', async () => {
    const browser = vault.pages()
    await browser
      .post('/login')
      .send({ username: 'bob', password: passwordOf('bob') })
      .expect(303)
    const choice = await browser.get('/mfa').expect(200)
    expect(choice.text).not.toContain('/inbox')
    await browser.post('/mfa/challenge').send({ factor: 'sms' }).expect(303)
    const { text } = await browser.get('/mfa/verify').expect(200)
    expect(text).toContain('<a href="/inbox" target="_blank">Demo: codes arrive in the inbox</a>')
    expect(text).not.toContain(INBOX_KEY)
    // A browser that never opened the inbox is told where its key stands.
    const refused = await supertest
      .agent(createApp(vault.context))
      .get('/inbox')
      .accept('text/html')
      .expect(404)
    expect(refused.text).toContain('which stands in the terminal')
  })

  it('is also a page, with the codes of the seeded apps', async () => {
    const before = seedAppCode('alice', Date.now()) ?? 'none'
    const page = await vault.pages().get('/inbox').expect(200)
    const after = seedAppCode('alice', Date.now()) ?? 'none'
    expect(page.text).toContain('Text message')
    expect(page.text).toContain('>+1 202 555 0122</a>')
    expect(page.text.replaceAll(' ', '')).toMatch(new RegExp(`${before}|${after}`))
  })

  it('links addresses in messages, and escapes their markup', async () => {
    await vault.options.notices?.onNotice?.(
      { email: 'bob@vault.example' } as never,
      {
        type: 'device_trusted',
        subject: 'A <b>browser</b>',
        text: 'Open this page:\n\nhttp://localhost:3000/mfa/not-me?token=a"&b\n\n<i>Then</i>',
      } as never,
    )
    const { text } = await vault.pages().get('/inbox').expect(200)
    const address = 'http://localhost:3000/mfa/not-me?token=a&quot;&amp;b'
    expect(text).toContain(`page:\n\n<a href="${address}">${address}</a>\n\n&lt;i&gt;Then`)
    expect(text).toContain('<b>A &lt;b&gt;browser')
  })

  it('can be read during a pending login', async () => {
    const browser = vault.browser()
    await signIn(browser, 'mallory')
    await browser.get('/inbox').expect(200)
  })

  it('is closed without the key that the app prints, wherever a request seems to come from (R145)', async () => {
    await supertest(vault.app).get('/inbox').accept('json').expect(404)
    await supertest(vault.app).get('/inbox').set('MFA-Inbox-Key', '').expect(404)
    await supertest(vault.app).get('/inbox?key=').set('Cookie', 'vault_inbox=').expect(404)
    await supertest(vault.app).get('/inbox?key[]=a').set('Host', 'localhost').expect(404)
    const page = await supertest(vault.app).get('/inbox?key=wrong').accept('html').expect(404)
    expect(page.text).toContain('Open the address that Vault printed at its start')
  })

  it('opens for a browser with the address that has the key, and shows one without it from then on (R145)', async () => {
    const browser = supertest.agent(vault.app).accept('html')
    const opened = await browser.get(`/inbox?to=x&key=${INBOX_KEY}`).expect(303)
    expect(opened.headers.location).toBe('/inbox?to=x')
    expect(opened.headers['set-cookie']?.[0]).toMatch(/HttpOnly; SameSite=Lax/)
    expect(opened.headers['set-cookie']?.[0]).not.toContain(INBOX_KEY)
    expect((await browser.get('/inbox').expect(200)).text).toContain('Inbox of all users')
    const { messages } = (
      await supertest(vault.app).get('/inbox').accept('json').set('MFA-Inbox-Key', INBOX_KEY).expect(200)
    ).body
    expect(messages.length).toBeGreaterThan(0)
  })

  it('does not exist in production', async () => {
    const app = createApp({ ...vault.context, config: { ...vault.context.config, production: true } })
    const answer = await supertest(app).get('/inbox').accept('json').expect(404)
    expect(answer.body.code).toBe('not_found')
  })

  it('says that another service delivers if Vault has no inbox', async () => {
    const app = createApp({ ...vault.context, inbox: undefined })
    const answer = await supertest(app).get('/inbox').accept('json').expect(404)
    expect(answer.body.code).toBe('not_available')
  })
})

describe('an address that does not exist', () => {
  it('is a page for a browser and a problem document for a program', async () => {
    const page = await vault.pages().get('/nowhere').expect(404)
    expect(page.type).toBe('text/html')
    const answer = await vault.browser().get('/nowhere').expect(404)
    expect(answer.type).toBe('application/problem+json')
    expect(answer.body).toMatchObject({ status: 404, code: 'not_found' })
  })
})
