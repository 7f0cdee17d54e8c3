import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestVault, passwordOf, signIn, signInBob, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const NEW = 'bob-opens-another-vault'

describe('changing the password', () => {
  it('asks for the current one and for one worth having', async () => {
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

  it('ends every other session and half-login, and changes the id of this one', async () => {
    const [here, elsewhere, halfway] = [await signInBob(vault), await signInBob(vault), vault.browser()]
    await signIn(halfway, 'bob')

    const changed = await here
      .post('/password')
      .send({ current: passwordOf('bob'), next: NEW })
      .expect(200)
    expect(changed.body).toEqual({ status: 'changed', next: '/mfa' })
    expect(String(changed.headers['set-cookie'])).toMatch(/vault\.sid=/)

    expect((await elsewhere.get('/me')).body.mfa.status).toBe('none')
    expect((await halfway.get('/me')).body.mfa.status).toBe('none')
    expect((await here.get('/me')).body.mfa.status).toBe('pending')

    const old = await vault
      .browser()
      .post('/login')
      .send({ username: 'bob', password: passwordOf('bob') })
    expect(old.status).toBe(401)
    const now = await vault.browser().post('/login').send({ username: 'bob', password: NEW })
    expect(now.body.status).toBe('mfa_required')
  })

  it('keeps somebody without a second factor signed in', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const changed = await nina
      .post('/password')
      .send({ current: passwordOf('nina'), next: NEW })
      .expect(200)
    expect(changed.body).toEqual({ status: 'changed', next: '/account' })
    expect((await nina.get('/me')).body.user).toEqual({ username: 'nina' })
  })

  it('is nothing for somebody who is not in', async () => {
    const answer = await vault.browser().post('/password').send({ current: 'a', next: NEW }).expect(401)
    expect(answer.body.code).toBe('sign_in_required')
  })
})
