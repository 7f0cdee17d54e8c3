import { describe, expect, it } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { jsonAgent } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import {
  recoveringHost,
  requestRecovery,
  signInBy,
  signInByApp,
  tokenIn,
  waitForRecovery,
} from '../recovery/kit.js'
import { expectAppWorks } from './intruder.js'

describe('an attacker with the password and the mailbox of a user who has an authenticator app (R94)', () => {
  it('requests a recovery, and the owner cancels it from the phone that the attacker does not have', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent: attacker } = await requestRecovery(made)
    const owner = made.newest('recovery_requested', '+447700900101')
    await jsonAgent(made.app)
      .post('/mfa/cancel-recovery')
      .send({ token: tokenIn(owner) })
      .expect(200)
    await waitForRecovery(made, clock)

    await attacker.post('/mfa/recover/complete').send({}).expect(404)
    const { agent, body } = await signInBy(made, 'alice')
    expect(body.next).toBe('/')
    expect((await agent.post('/mfa/recover/complete').send({}).expect(404)).body.code).toBe('no_recovery')
    await agent.post('/mfa/enroll-app').send({}).expect(401)
    expect(made.ended).toEqual([])
    made.standIn.setApp('alice@example.com', '424242')
    await expectAppWorks(made, 'alice')
  })

  it('deletes the first message, and the owner is still notified at half time', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const token = tokenIn(made.newest('recovery_reminder', '+447700900101'))
    await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token }).expect(200)
    const { agent } = await signInBy(made, 'alice')
    await agent.post('/mfa/recover/complete').send({}).expect(404)
  })

  it('loses the recovery when the owner signs in with the app, even in the last second', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await waitForRecovery(made, clock)
    const { agent: attacker } = await signInBy(made, 'alice')
    await signInByApp(made)
    expect((await attacker.post('/mfa/recover/complete').send({}).expect(404)).body.code).toBe('no_recovery')
    await expectAppWorks(made, 'alice')
  })

  it('gains nothing from a pending recovery: neither an app, nor backup codes, nor trust in a browser', async () => {
    const made = recoveringHost()
    const { agent: attacker } = await requestRecovery(made)
    await attacker.post('/mfa/enroll-app').send({}).expect(401)
    const codes = await attacker.post('/mfa/backup').send({}).expect(401)
    expect(codes.body.factors).toMatchObject([{ id: 'app' }])
    // The earlier request for approval is over.
    expect(codes.body).not.toHaveProperty('approval')
    await challenge(attacker, 'sms').expect(200)
    const { body } = await verify(attacker, made.standIn.newestCode(), { trust: true }).expect(200)
    expect(body.trusted).toBe(false)
  })

  it('cannot shorten the wait by requesting again, nor flood the owner with messages', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent, body: first } = await requestRecovery(made)
    for (let nth = 0; nth < 10; nth++) {
      clock.move(1_000)
      const { body } = await agent.post('/mfa/recover').send({}).expect(200)
      expect(body.readyAt).toBe(first.readyAt)
    }
    expect(made.toldContacts('recovery_requested')).toHaveLength(2)
  })
})
