import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { challenge, verify } from '../../test/kit/sign-in.js'
import {
  type Browser,
  expectStatus,
  openTestVault,
  passwordOf,
  signIn,
  signInBob,
  type TestVault,
} from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const NEW = 'bob-opens-another-vault'

async function signInWalt(): Promise<Browser> {
  const browser = vault.browser()
  await signIn(browser, 'walt').then(expectStatus(200))
  await challenge(browser, 'whatsapp').then(expectStatus(200))
  const code = await vault.codeSentTo('+12025550155')
  await verify(browser, code).then(expectStatus(200))
  return browser
}

describe('changing the password', () => {
  it('requires the current password and a new one of sufficient length', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const wrong = await nina.post('/password').send({ current: 'wrong', next: NEW }).expect(400)
    expect(wrong.body.code).toBe('wrong_password')
    const short = await nina
      .post('/password')
      .send({ current: passwordOf('nina'), next: 'short' })
      .expect(400)
    expect(short.body.code).toBe('invalid_request')
    const same = { current: passwordOf('nina'), next: passwordOf('nina') }
    await nina.post('/password').send(same).expect(400)
  })

  it('keeps the user signed in under a new session id, and ends every other session and pending login', async () => {
    const [here, elsewhere, pending] = [await signInBob(vault), await signInBob(vault), vault.browser()]
    await signIn(pending, 'bob')
    const before = (await here.get('/me')).body.mfa

    const changed = await here
      .post('/password')
      .send({ current: passwordOf('bob'), next: NEW })
      .expect(200)
    expect(changed.body).toEqual({ status: 'changed', next: '/account' })
    expect(String(changed.headers['set-cookie'])).toMatch(/vault\.sid=/)

    expect((await elsewhere.get('/me')).body.mfa.status).toBe('none')
    expect((await pending.get('/me')).body.mfa.status).toBe('none')
    expect((await here.get('/me')).body).toEqual({ user: { username: 'bob' }, mfa: before })
    expect((await here.get('/account').set('Accept', 'text/html')).text).toContain(
      'Your password is changed.',
    )

    const old = await vault
      .browser()
      .post('/login')
      .send({ username: 'bob', password: passwordOf('bob') })
    expect(old.status).toBe(401)
    const now = await vault.browser().post('/login').send({ username: 'bob', password: NEW })
    expect(now.body.status).toBe('mfa_required')
  })

  it('succeeds for one of several concurrent requests', async () => {
    const walt = await signInWalt()
    const body = { current: passwordOf('walt'), next: NEW }
    const answers = await Promise.all([1, 2, 3].map(() => walt.post('/password').send(body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers) {
      if (status !== 200) expect(['wrong_password', 'sign_in_required']).toContain(body.code)
    }
    const now = await vault.browser().post('/login').send({ username: 'walt', password: NEW })
    expect(now.body.status).toBe('mfa_required')
  })

  it('keeps a user without a second factor signed in', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const changed = await nina
      .post('/password')
      .send({ current: passwordOf('nina'), next: NEW })
      .expect(200)
    expect(changed.body).toEqual({ status: 'changed', next: '/account' })
    expect((await nina.get('/me')).body.user).toEqual({ username: 'nina' })
  })

  it('requires a sign-in', async () => {
    const answer = await vault.browser().post('/password').send({ current: 'a', next: NEW }).expect(401)
    expect(answer.body.code).toBe('sign_in_required')
  })
})
