import { describe, expect, it } from 'vitest'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { host } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { breakIn, expectAppWorks, signInWithApp } from './intruder.js'

describe("an attacker with the password and the user's text messages (R92)", () => {
  it("cannot replace the user's authenticator app", async () => {
    const made = host()
    await signInWithApp(made, 'alice')
    const attacker = await breakIn(made, 'alice', 'sms')
    const { body } = await attacker.post('/mfa/enroll-app').send({}).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app', strength: 'strong' }] })
    expect(made.standIn.count('enrollApp')).toBe(0)
    await expectAppWorks(made, 'alice')
  })

  it('cannot make an old code of the app count again with a fresh text message', async () => {
    const clock = stopClock()
    const made = host()
    const session = await signInWithApp(made, 'alice')
    const approve = () => approveChange(session, '/mfa/enroll-app', byStandIn(made, session))
    const showText = async () => {
      await challenge(session, 'sms').expect(200)
      await verify(session, made.standIn.newestCode()).expect(200)
    }
    const expectAppAsked = async (path: string) => {
      const { body } = await session.post(path).send({}).expect(401)
      expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }], backup: false })
      expect(body.factors).toHaveLength(1)
    }
    clock.move(5 * MINUTE - 1)
    await session.post('/mfa/backup').send({}).expect(200)
    await showText()
    clock.move(1)
    await expectAppAsked('/mfa/backup')

    // An approval by the app, once it is old and once it was used.
    await approve()
    clock.move(5 * MINUTE - 1)
    await showText()
    clock.move(1)
    await expectAppAsked('/mfa/enroll-app')
    await approve()
    await session.post('/mfa/enroll-app').send({}).expect(200)
    await showText()
    await expectAppAsked('/mfa/enroll-app')
  })

  it('gets as far as the user does, if a text message is the strongest factor of the account', async () => {
    const made = host()
    const session = await breakIn(made, 'bob', 'sms')
    await approveChange(session, '/mfa/enroll-app', byStandIn(made, session))
    await session.post('/mfa/enroll-app').send({}).expect(200)
  })
})
