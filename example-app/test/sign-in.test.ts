import { createHook } from 'node:async_hooks'
import supertest from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { seedAppCode } from '../src/seed-apps.js'
import { openTestVault, passwordOf, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

describe('signing in', () => {
  it('requires the second factor of a user who has one, and then leads to the requested page', async () => {
    const browser = vault.pages()
    await browser.get('/vault').expect(303).expect('location', '/login')
    await browser
      .post('/login')
      .send({ username: 'bob', password: passwordOf('bob') })
      .expect(303)
      .expect('location', '/mfa')
    await browser.get('/vault').expect((response) => {
      expect([302, 303]).toContain(response.status)
      expect(response.headers.location).toMatch(/^\/mfa/)
    })
    const me = await browser.get('/me').accept('json').expect(200)
    expect(me.body).toEqual({ user: null, mfa: { status: 'pending', amr: [], verifiedAt: null } })

    await challenge(browser, 'sms').accept('json').expect(200)
    const code = await vault.codeSentTo('+12025550122')
    const verified = await verify(browser, code, { factor: 'sms' }).accept('json').expect(200)
    expect(verified.body).toMatchObject({ status: 'verified', next: '/vault' })

    const then = await browser.get('/me').accept('json').expect(200)
    expect(then.body.user).toEqual({ username: 'bob' })
    expect(then.body.mfa).toMatchObject({ status: 'verified', amr: ['pwd', 'sms', 'mfa'] })
    expect(Date.parse(then.body.mfa.verifiedAt)).toBeLessThanOrEqual(Date.now())
    await browser.get('/vault').accept('json').expect(200, { balance: 1200 })
  })

  it('informs a JSON client that a second factor is required', async () => {
    const browser = vault.browser()
    const answer = await signIn(browser, 'mallory')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ status: 'mfa_required', next: '/mfa' })
    const refused = await browser.get('/vault').expect(401)
    expect(refused.body.code).toBe('mfa_required')
  })

  it('signs in a user without a second factor by password alone', async () => {
    const browser = vault.browser()
    const answer = await signIn(browser, 'nina')
    expect(answer.body).toEqual({ status: 'signed_in', next: '/' })
    await browser.get('/vault').expect(200, { balance: 640 })
    const me = await browser.get('/me')
    expect(me.body).toEqual({
      user: { username: 'nina' },
      mfa: { status: 'none', amr: [], verifiedAt: null },
    })
  })

  it('leads a user without a second factor to the requested page', async () => {
    const browser = vault.pages()
    await browser.get('/account?from=mail').expect(303)
    await browser
      .post('/login')
      .send({ username: 'nina', password: passwordOf('nina') })
      .expect(303)
      .expect('location', '/account?from=mail')
  })

  it('can use the Passport strategy on a route of the app', async () => {
    const browser = vault.pages()
    await browser.post('/login').send({ username: 'otto', password: passwordOf('otto') })
    const wrong = await browser.post('/mfa-login').send({ factor: 'app', code: '000000' })
    expect(wrong.status).toBe(302)
    expect(wrong.headers.location).toBe('/mfa')
    const code = seedAppCode('otto', Date.now()) ?? ''
    await browser.post('/mfa-login').send({ factor: 'app', code }).expect(302).expect('location', '/')
    const me = await browser.get('/me').accept('json')
    expect(me.body.user).toEqual({ username: 'otto' })
  })

  it('changes the session id at each step', async () => {
    const browser = vault.browser()
    const cookie = (response: supertest.Response) =>
      response
        .get('Set-Cookie')
        ?.find((line) => line.startsWith('vault.sid='))
        ?.split(';')[0] ?? ''
    await supertest(vault.app).get('/').expect(200)
    const first = cookie(await signIn(browser, 'mallory'))
    await challenge(browser, 'sms').expect(200)
    const code = await vault.codeSentTo('+12025550144')
    const second = cookie(await verify(browser, code, { factor: 'sms' }).expect(200))
    expect(first).toMatch(/^vault\.sid=/)
    expect(second).toMatch(/^vault\.sid=/)
    expect(second).not.toBe(first)
  })

  it('ignores case and surrounding spaces in names', async () => {
    const answer = await vault
      .browser()
      .post('/login')
      .send({ username: ' NINA ', password: passwordOf('nina') })
    expect(answer.body.status).toBe('signed_in')
  })
})

describe('a wrong password', () => {
  it('is refused with a stable code and the same response as an unknown name', async () => {
    const wrong = await vault.browser().post('/login').send({ username: 'bob', password: 'not his' })
    const unknown = await vault.browser().post('/login').send({ username: 'nobody', password: 'not his' })
    expect(wrong.status).toBe(401)
    expect(wrong.type).toBe('application/problem+json')
    expect(wrong.body.code).toBe('invalid_credentials')
    expect(unknown.body).toEqual(wrong.body)
  })

  it('shows the form again, with the name and without the password', async () => {
    const answer = await vault
      .pages()
      .post('/login')
      .send({ username: '<b>bob', password: 'not-his-password' })
      .expect(401)
    expect(answer.type).toBe('text/html')
    expect(answer.text).toContain('value="&lt;b&gt;bob"')
    expect(answer.text).not.toContain('not-his-password')
  })

  it('is not checked for a name that a database cannot store (R83)', async () => {
    for (const username of ['bob\u0000', '\ud800', 'bob\u0007']) {
      const answer = await vault
        .browser()
        .post('/login')
        .send({ username, password: passwordOf('bob') })
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    }
    await vault.browser().get('/inbox?to=%00').expect(400)
  })

  it('leads to one key derivation, whether the name exists or not', async () => {
    const jobs: string[] = []
    const hook = createHook({ init: (_id, type) => void jobs.push(type) }).enable()
    const derivationsFor = async (username: string) => {
      jobs.length = 0
      await vault.context.users.signIn(username, 'not the password')
      return jobs.filter((type) => type === 'SCRYPTREQUEST').length
    }
    const derivations = [await derivationsFor('bob'), await derivationsFor('nobody')]
    hook.disable()
    expect(derivations).toEqual([1, 1])
  })

  it('can be submitted 20 times before a wait, also for the correct password', async () => {
    const guess = (password: string) => vault.browser().post('/login').send({ username: 'walt', password })
    for (let count = 0; count < 20; count++) await guess(`guess ${count}`).expect(401)
    const refused = await guess(passwordOf('walt')).expect(429)
    expect(refused.body.code).toBe('too_many_attempts')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(900)
    await signIn(vault.browser(), 'nina').then((answer) => expect(answer.status).toBe(200))
  })
})

describe('an invalid sign-in request', () => {
  const bodies: [string, object | string, string, number][] = [
    ['an object as the name', { username: { $ne: 1 }, password: 'x' }, 'application/json', 400],
    ['an array as the password', { username: 'bob', password: ['x'] }, 'application/json', 400],
    ['an empty object', {}, 'application/json', 400],
    ['broken JSON', '{"username":', 'application/json', 400],
    ['another content type', '<login/>', 'text/xml', 415],
    ['more than 4 KB', { username: 'bob', password: 'x'.repeat(5000) }, 'application/json', 413],
  ]
  it('is refused', () =>
    everyCase(bodies, async ([_, body, type, status]) => {
      const answer = await vault.browser().post('/login').type(type).send(body)
      expect(answer.status).toBe(status)
      expect(answer.type).toBe('application/problem+json')
      expect(answer.body.code).toMatch(/^(invalid_request|unsupported_media_type|body_too_large)$/)
      expect(answer.text).not.toMatch(/node_modules|\bat \//)
    }))
})

describe('signing out', () => {
  it('ends the session', async () => {
    const browser = vault.browser()
    const [cookie] = [String((await signIn(browser, 'nina')).headers['set-cookie']).split(';')[0] ?? '']
    await browser.post('/logout').expect(200, { status: 'signed_out', next: '/' })
    const me = await supertest(vault.app).get('/me').set('cookie', cookie)
    expect(me.body.user).toBeNull()
  })

  it('is possible during a pending login', async () => {
    const browser = vault.browser()
    await signIn(browser, 'dora')
    await browser.post('/logout').expect(200)
    const me = await browser.get('/me')
    expect(me.body.mfa.status).toBe('none')
  })
})
