import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeIn } from '../kit/message-code.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { inboxAddress, messagesIn, openRecipe, type Recipe } from './kit.js'

const tokenIn = (html: string) => /name="_csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''

describe('the recipe "password login in CommonJS"', () => {
  let recipe: Recipe
  let app: RunningProcess

  beforeAll(async () => {
    recipe = await openRecipe('password-commonjs')
    app = await recipe.start('bin/www')
  })

  afterAll(() => recipe?.dispose())

  /** Signs in with the password, in a browser of its own. */
  async function passwordOnly() {
    const browser = request.agent(app.url).set('Accept', 'text/html')
    const _csrf = tokenIn((await browser.get('/login').expect(200)).text)
    const form = { _csrf, username: 'bob', password: 'a good password' }
    await browser.post('/login').type('form').send(form).expect(302).expect('Location', '/')
    await browser.get('/').expect(303).expect('Location', '/mfa')
    return browser
  }

  it('signs a user in with the password and a code, beside helmet and CSRF tokens', async () => {
    const browser = await passwordOnly()
    const page = await browser.get('/mfa').expect(200)
    expect(page.text).toContain('Password Shop')
    // The policy of the MFA pages replaces helmet's own, and the other headers of helmet stay.
    expect(page.headers['content-security-policy']).not.toContain('upgrade-insecure-requests')
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(page.headers['strict-transport-security']).toContain('max-age')

    await challenge(browser, 'email').type('form').expect(303)
    const [message] = await messagesIn(browser, recipe)
    expect(message?.to).toBe('bob@example.com')
    const verified = await verify(browser, codeIn(message?.text)).type('form')
    expect([verified.status, verified.headers.location]).toEqual([303, '/'])

    const account = await browser.get('/').expect(200)
    expect(account.text).toContain('Signed in as bob.')
    await browser.post('/orders').type('form').send({}).expect(403)
    await browser
      .post('/orders')
      .type('form')
      .send({ _csrf: tokenIn(account.text) })
      .expect(201)
  })

  it('refuses an MFA form of another site, although it has no CSRF token', async () => {
    const browser = await passwordOnly()
    const forged = browser.post('/mfa/challenge').set('Origin', 'https://evil.example')
    await forged.type('form').send({ factor: 'email' }).expect(403)
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const { url } = await recipe.start('bin/www', { DATA_DIR: '.data-attack' })
    await expectHeld(url, ['--protected', '/', '--inbox', await inboxAddress(recipe.folder, '.data-attack')])
  })
})
