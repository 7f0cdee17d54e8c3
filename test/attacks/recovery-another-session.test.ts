import { describe, expect, it } from 'vitest'
import { SECOND, stopClock } from '../kit/clock.js'
import { signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { recoveringHost, requestRecovery, signInBy, waitForRecovery } from '../recovery/kit.js'

describe('an attacker in another session (R94)', () => {
  it('is signed out when the owner completes the recovery', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent: attacker } = await signInBy(made, 'alice')
    const pending = await signIn(made.app, 'alice')
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const { agent: owner } = await signInBy(made, 'alice')
    await owner.post('/mfa/recover/complete').send({}).expect(200)
    await attacker.get('/secret').expect(401)
    expect((await attacker.get('/mfa')).body.status).toBe('none')
    expect((await pending.get('/mfa')).body.status).toBe('none')
  })

  it('cannot set up an app with the password alone after the recovery was completed', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const { agent: owner } = await signInBy(made, 'alice')
    await owner.post('/mfa/recover/complete').send({}).expect(200)
    clock.move(SECOND)
    const attacker = await signIn(made.app, 'alice')
    expect((await attacker.post('/mfa/enroll-app').send({}).expect(401)).body.code).toBe('mfa_required')
    await attacker.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(401)
    await attacker.get('/secret').expect(401)
    await owner.post('/mfa/enroll-app').send({}).expect(200)
  })

  it('cannot see, cancel or complete the recovery of another user', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent: owner } = await requestRecovery(made)
    const { agent: bob } = await signInBy(made, 'bob', 'sms')
    expect((await bob.get('/mfa/recover')).body).toEqual({ status: 'none' })
    await bob.post('/mfa/recover/cancel').send({ userId: 'u-ali' }).expect(404)
    expect((await owner.get('/mfa/recover')).body.status).toBe('waiting')
    await waitForRecovery(made, clock)
    const { agent: later } = await signInBy(made, 'bob', 'sms')
    await later.post('/mfa/recover/complete').send({}).expect(404)
  })

  it('cannot use the session that waits for a new app for anything else', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover/complete').send({}).expect(200)
    await agent.get('/secret').expect(401)
    await agent.post('/transfer').expect(401)
    await challenge(agent, 'email').expect(403)
    expect((await verify(agent, '123456', { factor: 'email' }).expect(403)).body.code).toBe(
      'enrollment_required',
    )
    await agent.post('/mfa/backup').send({}).expect(403)
    await agent.post('/mfa/recover').send({}).expect(403)
  })
})
