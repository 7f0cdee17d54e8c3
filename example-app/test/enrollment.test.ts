import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedAppCode } from '../src/seed-apps.js'
import { openTestVault, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const STEP_MS = 30_000

describe('an authenticator app', () => {
  it('is set up by somebody without a second factor, who may then withdraw, and is asked for it next time', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const setup = await nina.post('/mfa/enroll-app').send({}).expect(200)
    const app = new TOTP({ secret: setup.body.secret })
    const code = app.generate({ timestamp: Date.now() - STEP_MS })
    await nina.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
    await nina.post('/vault/withdraw').send({ amount: 40 }).expect(200, { balance: 600 })
    const page = await nina.get('/account').accept('text/html').expect(200)
    expect(page.text).toContain('Replace the authenticator app')

    const later = vault.browser()
    expect((await signIn(later, 'nina')).body.status).toBe('mfa_required')
    await later.post('/mfa/verify').send({ factor: 'app', code: app.generate() }).expect(200)
    expect((await later.get('/me')).body.user).toEqual({ username: 'nina' })
  })

  it('alone is no way to receive backup codes, and its owner is told so', async () => {
    const otto = vault.browser()
    await signIn(otto, 'otto')
    const code = seedAppCode('otto', Date.now())
    await otto.post('/mfa/verify').send({ factor: 'app', code }).expect(200)
    const refused = await otto.post('/mfa/backup').send({}).expect(409)
    expect(refused.body.code).toBe('contact_needed')
  })
})
