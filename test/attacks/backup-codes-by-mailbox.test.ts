import { describe, expect, it } from 'vitest'
import { host } from '../kit/host.js'
import { breakIn, signInWithApp } from './intruder.js'

describe('an attacker with a weaker factor than the strongest one of the account (R92)', () => {
  it.each([
    ['the mailbox', 'email'],
    ['the text messages', 'sms'],
  ] as const)('cannot have backup codes sent with %s', async (_what, factor) => {
    const made = host()
    const attacker = await breakIn(made, 'alice', factor)
    const { body } = await attacker.post('/mfa/backup').send({}).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }], backup: false })
    expect(made.standIn.count('sendBackupCodes')).toBe(0)
  })

  it('cannot make the backup codes of the user void', async () => {
    const made = host()
    const owner = await signInWithApp(made, 'alice')
    await owner.post('/mfa/backup').send({}).expect(200)
    const attacker = await breakIn(made, 'alice', 'email')
    await attacker.post('/mfa/backup').send({}).expect(401)
    expect(made.standIn.count('sendBackupCodes')).toBe(1)
  })
})
