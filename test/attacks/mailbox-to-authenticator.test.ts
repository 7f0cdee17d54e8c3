import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { browserAgent, host } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { breakIn, expectAppWorks, signInWithApp } from './intruder.js'

const bank = () =>
  host({
    routes: (app) => {
      app.post('/strong', requireMfa({ minStrength: 'strong' }), (_req, res) => void res.json({ done: true }))
    },
  })

describe('an attacker with the password and the mailbox of a user who has an authenticator app (R92)', () => {
  it('cannot go from the mailbox to backup codes to an authenticator app of their own', async () => {
    const made = bank()
    await signInWithApp(made, 'alice')
    const attacker = await breakIn(made, 'alice', 'email')

    const codes = await attacker.post('/mfa/backup').send({}).expect(401)
    expect(codes.body).toMatchObject({
      code: 'step_up_required',
      next: '/mfa',
      factors: [{ id: 'app', method: 'app', strength: 'strong' }],
      backup: false,
    })
    expect(codes.body.factors).toHaveLength(1)
    const app = await attacker.post('/mfa/enroll-app').send({}).expect(401)
    expect(app.body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }], backup: false })
    await attacker.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(401)

    expect(made.standIn.count('sendBackupCodes')).toBe(0)
    expect(made.standIn.count('enrollApp')).toBe(0)
    await attacker.post('/strong').expect(401)
    await expectAppWorks(made, 'alice')
  })

  it('is offered only the authenticator app on the page of the step-up', async () => {
    const made = bank()
    const { app, standIn } = made
    const attacker = browserAgent(app)
    await login(attacker, 'alice').type('form')
    await challenge(attacker, 'email').type('form').expect(303)
    await verify(attacker, standIn.newestCode()).type('form').expect(303)
    for (const path of ['/mfa/enroll-app', '/mfa/backup']) {
      await attacker.get(path).expect(303).expect('Location', '/mfa')
      await attacker.get('/mfa').expect(303).expect('Location', '/mfa/verify?factor=app')
      const page = await attacker.get('/mfa?choose').expect(200)
      expect(page.text).toContain('/mfa/verify?factor=app')
      expect(page.text).not.toMatch(/value="(email|sms)"|factor=backup/)
    }
  })

  it('cannot confirm an enrollment that began before the user had a stronger factor', async () => {
    const made = bank()
    const { users, standIn } = made
    users.alice?.factors.splice(0, Infinity, { method: 'email', email: 'alice@example.com' })
    const attacker = await breakIn(made, 'alice', 'email')
    await approveChange(attacker, '/mfa/enroll-app', byStandIn(made, attacker))
    await attacker.post('/mfa/enroll-app').send({}).expect(200)

    users.alice?.factors.push({ method: 'app', user: 'alice@example.com' })
    const { body } = await attacker.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }] })
    // The sign-in and the approval.
    expect(standIn.count('verify')).toBe(2)
    await attacker.post('/strong').expect(401)
  })
})

describe('the owner of the account (R92)', () => {
  it('replaces the authenticator app and gets backup codes with the app', async () => {
    const made = bank()
    const owner = await signInWithApp(made, 'alice')
    await owner.post('/mfa/backup').send({}).expect(200)
    await approveChange(owner, '/mfa/enroll-app', byStandIn(made, owner))
    await owner.post('/mfa/enroll-app').send({}).expect(200)
    await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
  })

  itWithSession('changes factors after a step-up with the app, and returns to the change', async () => {
    const made = bank()
    const { standIn } = made
    standIn.setApp('alice@example.com', '424242')
    const owner = await breakIn(made, 'alice', 'email')
    await owner.post('/mfa/backup').send({}).expect(401)
    const { body } = await verify(owner, '424242', { factor: 'app' }).expect(200)
    expect(body.next).toBe('/mfa/backup')
    await owner.post('/mfa/backup').send({}).expect(200)
  })
})
