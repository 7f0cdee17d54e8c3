import { describe, expect, it } from 'vitest'
import { host } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'
import { breakIn, expectAppWorks, signInWithApp } from './intruder.js'

describe('an attacker with the password and the mailbox of a user who has an authenticator app (R92)', () => {
  it('cannot remove the app or the backup codes, so that the mailbox would be the strongest factor', async () => {
    const standIn = standInService()
    const removed: unknown[] = []
    const notices: string[] = []
    const service = {
      ...standIn.service,
      factorsOf: async () => ({ existing: [{ method: 'app', usable: true }] as const, backupCodesLeft: 10 }),
      removeFactor: async (request: unknown) => {
        removed.push(request)
        return { outcome: 'removed' as const }
      },
    }
    const made = host({
      standIn,
      options: {
        service,
        recordedFactors: () => undefined,
        onFactorsChanged: (user, { app }) => void (app || removed.push(user)),
        notices: { onNotice: (_user, { type }) => void notices.push(type) },
      },
    })
    await signInWithApp(made, 'alice')
    const attacker = await breakIn(made, 'alice', 'email')
    for (const path of ['/mfa/enroll-app/remove', '/mfa/backup/remove']) {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const { body } = await attacker.post(path).send({}).expect(401)
        expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }], backup: false })
      }
      await attacker.get(path).set('Accept', 'text/html').expect(303).expect('Location', '/mfa')
    }
    expect(removed).toEqual([])
    expect(notices).toEqual([])
    await expectAppWorks(made, 'alice')
  })
})
