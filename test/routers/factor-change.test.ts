import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { host, signIn, signInFully } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

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

  it('requires a second factor of the last five minutes, and continues after a fresh one', async () => {
    const clock = stopClock()
    const made = host()
    const { standIn } = made
    const agent = await signInFully(made, 'bob')
    clock.move(5 * MINUTE - 1)
    await agent.post(path).expect(200)
    clock.move(1)
    expect((await agent.post(path).expect(401)).body.code).toBe('step_up_required')
    expect(standIn.count(verb)).toBe(1)

    await challenge(agent, 'sms').expect(200)
    const { body } = await verify(agent, standIn.newestCode()).expect(200)
    expect(body.next).toBe(path)
    await agent.post(path).expect(200)
  })
})
