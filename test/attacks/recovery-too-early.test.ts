import { describe, expect, it } from 'vitest'
import { HOUR, SECOND, stopClock } from '../kit/clock.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { recoveringHost, requestRecovery, signInBy, waitForRecovery } from '../recovery/kit.js'

describe('an attacker who wants to complete a recovery before its time (R94)', () => {
  it('waits until the last millisecond', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    clock.move(-1)
    const { agent, body } = await signInBy(made, 'alice')
    expect(body.next).toBe('/')
    expect((await agent.post('/mfa/recover/complete').send({}).expect(409)).body.code).toBe(
      'recovery_waiting',
    )
    expect(made.ended).toEqual([])
  })

  itWithSession('cannot complete it in a session that was already open', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent } = await requestRecovery(made)
    await waitForRecovery(made, clock)
    await challenge(agent, 'email').expect(200)
    await verify(agent, made.standIn.newestCode()).expect(200)
    expect((await agent.post('/mfa/recover/complete').send({}).expect(401)).body.code).toBe(
      'sign_in_required',
    )
    await agent.get('/secret').expect(401)
    expect(made.ended).toEqual([])
  })

  it('cannot complete it with the password alone', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/logout')
    await login(agent, 'alice').expect(200)
    expect((await agent.post('/mfa/recover/complete').send({}).expect(401)).body.code).toBe('mfa_required')
    await agent.post('/mfa/enroll-app').send({}).expect(401)
    expect(made.ended).toEqual([])
  })

  it('gains no time from an app that was not running when the reminder was due', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    clock.move(24 * HOUR)
    const { agent } = await signInBy(made, 'alice')
    expect(made.toldContacts('recovery_reminder')).toHaveLength(2)
    expect((await agent.post('/mfa/recover/complete').send({}).expect(409)).body.code).toBe(
      'recovery_waiting',
    )
    clock.move(6 * HOUR - 1)
    const later = await signInBy(made, 'alice')
    await later.agent.post('/mfa/recover/complete').send({}).expect(409)
  })

  it('gains nothing from notices that cannot be delivered', async () => {
    const clock = stopClock()
    let works = true
    const made = recoveringHost({
      options: {
        recovery: { onNotice: () => (works ? undefined : Promise.reject(new Error('down'))) } as never,
      },
    })
    await requestRecovery(made)
    works = false
    clock.move(12 * HOUR)
    await made.sendDueNotices()
    clock.move(12 * HOUR + SECOND)
    const { agent } = await signInBy(made, 'alice')
    expect((await agent.post('/mfa/recover/complete').send({}).expect(409)).body.code).toBe(
      'recovery_waiting',
    )
  })
})
