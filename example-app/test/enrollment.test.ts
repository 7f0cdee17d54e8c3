import { TOTP } from 'otpauth'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { verify } from '../../test/kit/sign-in.js'
import { seedAppCode } from '../src/seed-apps.js'
import { openTestVault, signIn, type TestVault, withdraw } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterEach(() => {
  vi.useRealTimers()
})
afterAll(() => vault.close())

const STEP_MS = 30_000

describe('an authenticator app', () => {
  it('can be set up by a user without a second factor, allows a withdrawal, and is required at the next sign-in', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const setup = await nina.post('/mfa/enroll-app').send({}).expect(200)
    const app = new TOTP({ secret: setup.body.secret })
    const code = app.generate({ timestamp: Date.now() - STEP_MS })
    await nina.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
    const paid = await withdraw(vault, nina, 40, { method: 'app', code: app.generate() })
    expect([paid.status, paid.body]).toEqual([200, { balance: 600 }])
    const page = await nina.get('/account').accept('text/html').expect(200)
    expect(page.text).toContain('Replace the authenticator app')

    const later = vault.browser()
    expect((await signIn(later, 'nina')).body.status).toBe('mfa_required')
    // The codes before are used up.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + STEP_MS })
    await verify(later, app.generate(), { factor: 'app' }).expect(200)
    expect((await later.get('/me')).body.user).toEqual({ username: 'nina' })
  })

  it('alone cannot receive backup codes, and the response says so', async () => {
    const otto = vault.browser()
    await signIn(otto, 'otto')
    const code = seedAppCode('otto', Date.now())
    await verify(otto, code, { factor: 'app' }).expect(200)
    const refused = await otto.post('/mfa/backup').send({}).expect(409)
    expect(refused.body.code).toBe('contact_needed')
  })
})
