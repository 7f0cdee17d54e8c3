import { describe, expect, it } from 'vitest'
import { type FactorInput, requireMfa } from '../../src/index.js'
import { host } from '../kit/host.js'
import { breakIn, expectAppWorks, signInWithApp } from './intruder.js'

/** Alice's code goes to mailbox and phone alike, beside an authenticator app and a text message. */
const factors: FactorInput[] = [
  { method: 'app', user: 'alice@example.com' },
  { method: 'dual', email: 'alice@example.com', phone: '+447700900101' },
  { method: 'sms', phone: '+447700900101' },
]

const hostOfAlice = () =>
  host({
    options: { factors: () => factors },
    routes: (app) =>
      void app.post('/payout', requireMfa({ minStrength: 'medium' }), (_req, res) => void res.end()),
  })

describe('an attacker with the password and a mailbox that receives dual codes (R92, R93)', () => {
  it('cannot pass a route that requires a medium factor, since the mailbox alone reads the code', async () => {
    const attacker = await breakIn(hostOfAlice(), 'alice', 'dual')
    const { body } = await attacker.post('/payout').expect(401)
    expect(body.code).toBe('step_up_required')
  })

  it("cannot replace the user's authenticator app", async () => {
    const made = hostOfAlice()
    await signInWithApp(made, 'alice')
    const attacker = await breakIn(made, 'alice', 'dual')
    await attacker.post('/mfa/enroll-app').send({}).expect(401)
    await expectAppWorks(made, 'alice')
  })
})
