import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { approveChange } from '../kit/approved-change.js'
import { type Host, host, signIn, signInFully } from '../kit/host.js'
import { verify } from '../kit/sign-in.js'

const CODE = 'AAAABBBBCCCCDDDD'

const bank = () =>
  host({
    routes: (app) => {
      app.post('/pay', requireMfa({ minStrength: 'medium' }), (_req, res) => void res.json({ done: true }))
      app.post('/read', requireMfa({ methods: ['backup'] }), (_req, res) => void res.json({ done: true }))
    },
  })

/** The owner has backup codes sent; then another browser signs in with one of them. */
async function signInWithBackupCode(made: Host, name: string) {
  const owner = await signInFully(made, name)
  const { body } = await owner.post('/mfa/backup').send({}).expect(200)
  const session = await signIn(made.app, name)
  await verify(session, CODE, { factor: 'backup' }).expect(200)
  return { session, strength: body.strength }
}

describe('an attacker with a backup code that the mailbox of the user received (R93)', () => {
  it.each([
    ['alice', 401, 'step_up_required'],
    // Dora's only factor is weak too, so she must enroll a stronger one.
    ['dora', 403, 'enrollment_required'],
  ])('does not pass a route that requires a medium factor, as %s', async (name, status, code) => {
    const made = bank()
    const { session, strength } = await signInWithBackupCode(made, name)
    expect(strength).toBe('weak')
    const { body } = await session.post('/pay').expect(status)
    expect(body.code).toBe(code)
    await session.post('/read').expect(200)
  })

  it('cannot use another one for the step-up, and is not offered to', async () => {
    const made = bank()
    const { session } = await signInWithBackupCode(made, 'alice')
    await session.post('/pay').expect(401)
    const page = await session.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).not.toContain('factor=backup')
    await verify(session, 'EEEEFFFFGGGGHHHH', { factor: 'backup' }).expect(200)
    await session.post('/pay').expect(401)
  })

  it('cannot set up an authenticator app or have new backup codes sent', async () => {
    const made = bank()
    const { users } = made
    users.bob?.factors.push({ method: 'email', email: 'bob@example.com' })
    const { session } = await signInWithBackupCode(made, 'bob')
    for (const path of ['/mfa/enroll-app', '/mfa/backup']) {
      const { body } = await session.post(path).send({}).expect(401)
      expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'sms' }], backup: false })
    }
  })
})

describe('a backup code that only a phone of the user received (R93)', () => {
  it('is worth as much as the phone', async () => {
    const made = bank()
    const { session, strength } = await signInWithBackupCode(made, 'bob')
    expect(strength).toBe('medium')
    await session.post('/pay').expect(200)
    const byBackupCode = async () => ({ code: 'EEEEFFFFGGGGHHHH', factor: 'backup' })
    await approveChange(session, '/mfa/enroll-app', byBackupCode)
    await session.post('/mfa/enroll-app').send({}).expect(200)
  })

  it('does not replace an authenticator app', async () => {
    const made = bank()
    made.users.alice?.factors.splice(2)
    const { session, strength } = await signInWithBackupCode(made, 'alice')
    expect(strength).toBe('medium')
    await session.post('/mfa/enroll-app').send({}).expect(401)
  })
})
