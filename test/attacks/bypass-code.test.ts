import { describe, expect, it } from 'vitest'
import type { ItemStore } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { HOUR, SECOND, stopClock } from '../kit/clock.js'
import { jsonAgent, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { describeWithSession } from '../kit/transports.js'
import { recoveringHost, signInBy } from '../recovery/kit.js'

const ORDER = { by: 'staff-7', reason: 'Lost phone' }

async function afterReset(clock: { move(ms: number): void }, name = 'alice') {
  const made = recoveringHost()
  const user = made.users[name]
  if (!user) throw new Error(`expected ${name}`)
  const { code } = await made.account.reset(user, ORDER)
  clock.move(SECOND)
  return { made, code }
}

describe('an attacker who knows the password of an account that was reset (R95)', () => {
  it('cannot set up a factor with the password alone', async () => {
    const { made } = await afterReset(stopClock())
    const thief = await signIn(made.app, 'alice')
    await thief.post('/mfa/enroll-app').send({}).expect(401)
    await thief.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(401)
    await thief.post('/mfa/backup').send({}).expect(401)
    await thief.get('/secret').expect(401)
    await thief.post('/transfer').expect(401)
    expect(made.standIn.count('enrollApp')).toBe(0)
  })

  it('cannot use the mailbox or the phone instead of the code, even if the host still lists them', async () => {
    const clock = stopClock()
    const made = recoveringHost({ forgets: false })
    const { alice } = made.users
    if (!alice) throw new Error('expected alice')
    await made.account.reset(alice, { ...ORDER, factors: ['app'] })
    clock.move(SECOND)
    const thief = await signIn(made.app, 'alice')
    for (const factor of ['email', 'sms', 'app', 'backup']) {
      expect((await challenge(thief, factor).expect(401)).body.code).toBe('bypass_code_required')
      const { body } = await verify(thief, '123456', { factor }).expect(401)
      expect(body.code).toBe('bypass_code_required')
    }
    expect(made.standIn.delivered).toEqual([])
  })

  it('gains nothing while the reset cannot be read: the account is not taken for one without a reset (R131)', async () => {
    const clock = stopClock()
    const store = memoryStore()
    let isDown = false
    const failing: ItemStore = {
      ...store,
      async read(owner) {
        if (isDown && owner.startsWith('reset:')) throw new Error('connection lost')
        return store.read(owner)
      },
    }
    const made = recoveringHost({ forgets: false, options: { trustedDevices: { store: failing } } })
    const { alice } = made.users
    if (!alice) throw new Error('expected alice')
    await made.account.reset(alice, { ...ORDER, factors: ['app'] })
    clock.move(SECOND)
    const thief = await signIn(made.app, 'alice')
    isDown = true
    await challenge(thief, 'email').expect(503)
    await verify(thief, '123456', { factor: 'email' }).expect(503)
    await thief.get('/secret').expect(401)
    await thief.get('/mfa').expect(503)
    expect(made.standIn.delivered).toEqual([])
    isDown = false
    expect((await challenge(thief, 'email').expect(401)).body.code).toBe('bypass_code_required')
  })

  it('cannot guess the code: attempts are counted as for every code', async () => {
    const { made, code } = await afterReset(stopClock())
    const thief = await signIn(made.app, 'alice')
    for (let left = 4; left >= 0; left--) {
      const { body } = await verify(thief, 'AAAA-AAAA-AAAA-AAAA', { factor: 'bypass' }).expect(401)
      expect(body).toMatchObject({ code: 'invalid_code', attemptsLeft: left })
    }
    await verify(thief, code, { factor: 'bypass' }).expect(429)
    const again = await signIn(made.app, 'alice')
    for (let nth = 0; nth < 5; nth++) {
      await verify(again, `BBBB-BBBB-BBBB-BBB${nth}`, { factor: 'bypass' }).expect(401)
    }
    const third = await signIn(made.app, 'alice')
    expect((await verify(third, code, { factor: 'bypass' }).expect(429)).body.code).toBe('locked')
    expect(made.told('locked')).toHaveLength(1)
  })

  it('cannot use the code of another user', async () => {
    const { made } = await afterReset(stopClock())
    const { bob } = made.users
    if (!bob) throw new Error('expected bob')
    const { code } = await made.account.reset(bob, ORDER)
    const thief = await signIn(made.app, 'alice')
    await verify(thief, code, { factor: 'bypass' }).expect(401)
  })
})

describe('an attacker who reads the bypass code later (R95)', () => {
  it('cannot use it a second time', async () => {
    const { made, code } = await afterReset(stopClock())
    const owner = await signIn(made.app, 'alice')
    await verify(owner, code, { factor: 'bypass' }).expect(200)
    const thief = await signIn(made.app, 'alice')
    await verify(thief, code, { factor: 'bypass' }).expect(401)
  })

  it('cannot use it at the same time as the owner', async () => {
    const { made, code } = await afterReset(stopClock())
    const agents = await Promise.all(Array.from({ length: 10 }, () => signIn(made.app, 'alice')))
    const answers = await Promise.all(agents.map((agent) => verify(agent, code, { factor: 'bypass' })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('cannot use it after an hour', async () => {
    const clock = stopClock()
    const { made, code } = await afterReset(clock)
    clock.move(HOUR - SECOND)
    const thief = await signIn(made.app, 'alice')
    await verify(thief, code, { factor: 'bypass' }).expect(401)
  })

  it('cannot use it for an account that was not reset, or has its new factor', async () => {
    const made = recoveringHost()
    const thief = await signIn(made.app, 'alice')
    const { body } = await verify(thief, 'AAAA-AAAA-AAAA-AAAA', { factor: 'bypass' }).expect(404)
    expect(body.code).toBe('unknown_factor')
  })
})

describeWithSession('an attacker in a session from before the reset (R95)', () => {
  it('is signed out, also from a pending login', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { agent: thief } = await signInBy(made, 'alice')
    const pending = await signIn(made.app, 'alice')
    clock.move(SECOND)
    const { alice } = made.users
    if (!alice) throw new Error('expected alice')
    const { code } = await made.account.reset(alice, ORDER)
    await thief.get('/secret').expect(401)
    await verify(pending, code, { factor: 'bypass' }).expect(401)
    expect((await jsonAgent(made.app).get('/mfa')).body.status).toBe('none')
  })
})
