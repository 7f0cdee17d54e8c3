import { ServiceError } from 'countersign'
import supertest from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../src/app.js'
import { openTestVault, signIn, signInBob, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const NEW = '+12025550166'

describe('adding a phone number', () => {
  it('makes it a factor only once its code came back', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    expect((await nina.post('/phone').send({ phone: '555' }).expect(400)).body.code).toBe('invalid_request')
    await nina.post('/phone').send({ phone: '+1 (202) 555-0166' }).expect(200)
    const code = await vault.codeSentTo(NEW)
    const wrong = code === '000000' ? '111111' : '000000'
    await nina.post('/phone/confirm').send({ code: wrong }).expect(400)
    expect((await nina.get('/mfa').expect(200)).body.factors).toEqual([])

    const confirmed = await nina.post('/phone/confirm').send({ code }).expect(200)
    expect(confirmed.body).toEqual({ status: 'confirmed', next: '/account' })
    const again = vault.browser()
    expect((await signIn(again, 'nina')).body.status).toBe('mfa_required')
    expect((await again.get('/mfa').expect(200)).body.factors).toMatchObject([
      { method: 'sms', to: '••• 66' },
    ])
  })

  it('requires a factor as strong as the strongest one of the user', async () => {
    const bob = await signInBob(vault)
    await bob.post('/phone').send({ phone: '+12025550177' }).expect(200)
    const pending = vault.browser()
    await signIn(pending, 'bob')
    await pending.post('/phone').send({ phone: '+12025550188' }).expect(401)
  })

  it('says that a code did not count while the service is down, and of no code where none was typed', async () => {
    const { codes } = vault.context
    let isDown = false
    const upOnly = <Given extends unknown[], Result>(verb: (...given: Given) => Promise<Result>) => {
      return async (...given: Given) => {
        if (isDown) throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down')
        return verb(...given)
      }
    }
    const failing = { ...codes, send: upOnly(codes.send), verify: upOnly(codes.verify) }
    const browser = supertest.agent(createApp({ ...vault.context, codes: failing })).accept('json')
    await signInBob({ ...vault, browser: () => browser })
    await browser.post('/phone').send({ phone: NEW }).expect(200)
    isDown = true
    const shown = async (path: string, fields: object) => {
      await browser.post(path).accept('html').type('form').send(fields).expect(303)
      return (await browser.get('/phone').accept('html').expect(200)).text
    }
    const outage = 'Not available right now. It’s not your fault. '
    expect(await shown('/phone', { phone: '+12025550199' })).toContain(`${outage}Please try again`)
    expect(await shown('/phone/confirm', { code: '000000' })).toContain(
      `${outage}Your code was not checked, and it didn’t count as an attempt. Please try again`,
    )
  })
})
