import { describe, expect, it } from 'vitest'
import { totpCode } from '../../src/testing/service.js'
import { signIn } from '../kit/host.js'
import { hostApp, useGateway } from './gateway.js'

/*
 * An attacker who has the password begins to set up an app before the owner does, in two processes of the host app.
 */

const gatewayOf = useGateway()

describe('an attacker who presses "Set up" first (R53, R54, R98)', () => {
  it('sees another secret than the owner, whose confirmation ends it, and whose factor the attacker has to show', async () => {
    const start = hostApp(gatewayOf())
    const [there, here] = [start({ policy: () => 'require' }), start({ policy: () => 'require' })]
    const [attacker, owner] = [await signIn(there.app, 'nina'), await signIn(here.app, 'nina')]
    const enroll = async (agent: typeof attacker) => (await agent.post('/mfa/enroll-app').expect(200)).body
    const [theirs, own] = [await enroll(attacker), await enroll(owner)]
    expect(theirs.secret).not.toBe(own.secret)
    const confirm = (agent: typeof attacker, { secret }: { readonly secret: string }, ageMs = 0) =>
      agent.post('/mfa/enroll-app/confirm').send({ code: totpCode(secret, Date.now() - ageMs) })
    // Before the owner confirms, at any age of the code.
    for (const ageMs of [0, 30_000]) {
      expect((await confirm(attacker, theirs, ageMs).expect(409)).body.code).toBe('enrollment_replaced')
    }
    await confirm(owner, own, 30_000).expect(200)
    for (const ageMs of [0, 30_000]) {
      expect((await confirm(attacker, theirs, ageMs).expect(401)).body.code).toBe('mfa_required')
      const code = totpCode(theirs.secret, Date.now() - ageMs)
      const shown = await attacker.post('/mfa/verify').send({ code, factor: 'app' })
      expect([shown.status, shown.body.code]).toEqual([401, 'invalid_code'])
    }
    await attacker.post('/mfa/enroll-app').expect(401)
    await attacker.get('/secret').expect(401)
    const later = await signIn(here.app, 'nina')
    await later
      .post('/mfa/verify')
      .send({ code: totpCode(own.secret), factor: 'app' })
      .expect(200)
  })

  it('cannot confirm with the codes of the owner, whose page they are not from', async () => {
    const start = hostApp(gatewayOf())
    const { app } = start({ policy: () => 'require' })
    const [attacker, owner] = [await signIn(app, 'nina'), await signIn(app, 'nina')]
    await attacker.post('/mfa/enroll-app').expect(200)
    const { body } = await owner.post('/mfa/enroll-app').expect(200)
    const code = totpCode(body.secret, Date.now() - 30_000)
    await attacker.post('/mfa/enroll-app/confirm').send({ code }).expect(409)
    await owner.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
  })
})
