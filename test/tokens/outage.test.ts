import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { begin, signInWithTokens, tokenClient, tokenHost } from './kit.js'

describe('a login without a cookie, while the service is stopped (R77)', () => {
  it('survives with its code and all of its attempts', async () => {
    const made = tokenHost()
    const client = tokenClient(made.app, { login: await begin(made, 'bob') })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const code = made.standIn.newestCode()
    made.standIn.setTrouble(made.standIn.down)
    for (let nth = 0; nth < 6; nth++) {
      const { body } = await client.post('/mfa/verify').send({ code }).expect(503)
      expect(body.code).toBe('service_unavailable')
    }
    expect(made.issued).toEqual([])
    made.standIn.setTrouble(undefined)
    expect((await client.post('/mfa/verify').send({ code: '000000' }).expect(401)).body.attemptsLeft).toBe(4)
    const { body } = await client.post('/mfa/verify').send({ code }).expect(200)
    await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(200)
  })

  it('lets guards ask for a fresh factor as before, which the client shows when the service is back', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access, refresh } = await signInWithTokens(made, 'bob')
    made.standIn.setTrouble(made.standIn.down)
    await tokenClient(made.app, { access }).post('/api/transfer').expect(200)
    clock.move(6 * MINUTE)
    const asked = await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
    const client = tokenClient(made.app, { access, login: asked.body.login })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(503)
    await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(200)
    made.standIn.setTrouble(undefined)
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const { body } = await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(200)
    await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(200)
  })
})

describe('tokens, when the clock of the process is moved (R17, R110)', () => {
  it('count no longer than their age by the clock that is read, and not at all from the future', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    const client = tokenClient(made.app, { access })
    clock.move(5 * MINUTE - SECOND)
    await client.post('/api/transfer').expect(200)
    clock.move(SECOND)
    expect((await client.post('/api/transfer').expect(401)).body.code).toBe('step_up_required')
    clock.move(-5 * MINUTE - 30 * SECOND)
    await client.post('/api/transfer').expect(200)
    clock.move(-HOUR)
    expect((await client.post('/api/transfer').expect(401)).body.code).toBe('step_up_required')
  })

  it('R150: leaves a pending login its ten minutes and no more', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const login = await begin(made, 'bob')
    clock.move(10 * MINUTE - 1)
    await tokenClient(made.app, { login }).get('/mfa').expect(200)
    clock.move(1)
    await tokenClient(made.app, { login }).get('/mfa').expect(401)
  })
})
