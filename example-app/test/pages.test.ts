import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verify } from '../../test/kit/sign-in.js'
import { readConfig } from '../src/config.js'
import { SEED_USERS } from '../src/seed-users.js'
import { phoneNumber } from '../src/views/format.js'
import { identityProviderPage } from '../src/views/identity-provider-page.js'
import { type Browser, openTestVault, passwordOf, signInBob, type TestVault } from './kit.js'

let vault: TestVault
let bob: Browser
beforeAll(async () => {
  vault = await openTestVault()
  bob = await signInBob(vault)
})
afterAll(() => vault.close())

const textOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

describe('the sign-in page of Vault', () => {
  it('says who has the help desk, as the app decides it', () => {
    const { staff, admins } = readConfig({})
    for (const { username, shows } of SEED_USERS) {
      expect(shows.includes('has the help desk'), username).toBe(staff.includes(username))
      expect(shows.includes('administrator'), username).toBe(admins.includes(username))
    }
  })

  it('puts the cursor into the password after a wrong one, and into the name before', async () => {
    const browser = vault.pages()
    const focused = (page: string) => /<input name="(\w+)"[^>]* autofocus/.exec(page)?.[1]
    expect(focused((await browser.get('/login').expect(200)).text)).toBe('username')
    const wrong = await browser.post('/login').send({ username: 'nina', password: 'wrong' }).expect(401)
    expect(focused(wrong.text)).toBe('password')
  })
})

describe('a page of Vault', () => {
  it('has a title of the same form as the pages of two-step verification', async () => {
    const browser = vault.pages()
    expect((await browser.get('/login').expect(200)).text).toContain('<title>Sign in – Vault</title>')
  })

  it('lists all second factors, and leads to the page that manages them', async () => {
    const alice = vault.pages()
    await alice
      .post('/login')
      .send({ username: 'alice', password: passwordOf('alice') })
      .expect(303)
    await alice.post('/mfa/challenge').send({ factor: 'sms' }).expect(303)
    await verify(alice.type('form'), await vault.codeSentTo('+12025550111'), { factor: 'sms' })
    for (const path of ['/', '/account']) {
      const { text } = await alice.get(path).expect(200)
      for (const factor of ['Authenticator app', 'Text message', 'Email']) expect(text).toContain(factor)
      expect(text).toContain('<a href="/mfa">Manage two-step verification</a>')
    }
  })

  it('groups the digits of phone numbers, and names the zone of times', async () => {
    const account = textOf((await bob.get('/account').accept('text/html').expect(200)).text)
    expect(account).toContain('Phone +1 202 555 0122')
    expect(account).toMatch(/Last confirmed \w+ \d+, \d{4}, [\d:]+ [AP]M [A-Z]{3}/)
    expect(phoneNumber('+447400100001')).toBe('+447 400 100 001')
  })

  it('has a way back beside each form, and one primary button', async () => {
    for (const path of ['/phone', '/password']) {
      const { text } = await bob.get(path).accept('text/html').expect(200)
      expect(text).toMatch(/<a [^>]*href="\/account"[^>]*>Cancel<\/a>/)
    }
    const provider = identityProviderPage(SEED_USERS)
    expect(provider).toMatch(/<button [^>]*class="secondary">Cancel<\/button>/)
    expect(provider.match(/<button(?! [^>]*class="secondary")/g)).toHaveLength(1)
  })
})
