import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { host, signIn, signInFully } from '../kit/host.js'
import { describeWithSession } from '../kit/transports.js'

describe.each([
  ['enrolling an authenticator app (R55)', '/mfa/enroll-app', 'enrollApp'],
  ['sending new backup codes (R61)', '/mfa/backup', 'sendBackupCodes'],
])('%s, for a user who has a second factor,', (_what, path, verb) => {
  it('requires more than the password', async () => {
    const { app, standIn } = host()
    const agent = await signIn(app, 'bob')
    expect((await agent.post(path).expect(401)).body.code).toBe('mfa_required')
    expect(standIn.count(verb)).toBe(0)
  })
})

/** A user who has shown a factor, and how a code by text message is shown, for an approval if one is named. */
async function signedIn() {
  const made = host()
  const agent = await signInFully(made, 'bob')
  const show = async (approval?: string) => {
    await agent.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    const code = made.standIn.newestCode()
    return (await agent.post('/mfa/verify').send({ code, approval }).expect(200)).body
  }
  return { standIn: made.standIn, agent, show }
}

describeWithSession('sending new backup codes (R61)', () => {
  it('requires a second factor of the last five minutes, and continues after a fresh one', async () => {
    const clock = stopClock()
    const { standIn, agent, show } = await signedIn()
    clock.move(5 * MINUTE - 1)
    await agent.post('/mfa/backup').expect(200)
    clock.move(1)
    expect((await agent.post('/mfa/backup').expect(401)).body.code).toBe('step_up_required')
    expect(standIn.count('sendBackupCodes')).toBe(1)
    expect((await show()).next).toBe('/mfa/backup')
    await agent.post('/mfa/backup').expect(200)
  })
})

describe('enrolling an authenticator app (R55)', () => {
  it('requires an approval, however recent the second factor is, and continues after it, once', async () => {
    const clock = stopClock()
    const { standIn, agent, show } = await signedIn()
    clock.move(MINUTE)
    const { body } = await agent.post('/mfa/enroll-app').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', approval: { atLeast: 'entered' } })
    expect(standIn.count('enrollApp')).toBe(0)
    expect(await show(body.approval.id)).toMatchObject({ status: 'approved', next: '/mfa/enroll-app' })
    await agent.post('/mfa/enroll-app').expect(200)
    expect((await agent.post('/mfa/enroll-app').expect(401)).body.approval.id).not.toBe(body.approval.id)
    expect(standIn.count('enrollApp')).toBe(1)
  })

  it('accepts the approval for five minutes', async () => {
    const clock = stopClock()
    const { agent, show } = await signedIn()
    clock.move(MINUTE)
    const { body } = await agent.post('/mfa/enroll-app').expect(401)
    await show(body.approval.id)
    clock.move(5 * MINUTE)
    await agent.post('/mfa/enroll-app').expect(401)
  })
})
