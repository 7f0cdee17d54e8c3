import { describe, expect, it } from 'vitest'
import { createMfa, type ItemStore } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { HOUR, MINUTE, SECOND, stopClock } from '../kit/clock.js'
import { browserAgent, host, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { signInAndTrust } from '../trust/kit.js'
import { recoveringHost, requestRecovery, signInBy, signInByApp } from './kit.js'

const ORDER = { by: 'staff-7', reason: 'Lost phone, checked by video call' }
const CONTACTS = ['alice@example.com', '+447700900101']

/** Resets the account of alice. */
async function resetAlice(made: ReturnType<typeof recoveringHost>, order: object = {}) {
  const { alice } = made.users
  if (!alice) throw new Error('expected alice')
  return made.account.reset(alice, { ...ORDER, ...order })
}

describe('a help-desk reset (R95)', () => {
  it('is read from the store once for each request of a pending login', async () => {
    const clock = stopClock()
    const store = memoryStore()
    let reads = 0
    const counting: ItemStore = {
      ...store,
      read(owner) {
        if (owner.startsWith('reset:')) reads++
        return store.read(owner)
      },
    }
    const made = recoveringHost({ options: { trustedDevices: { store: counting } } })
    await resetAlice(made)
    clock.move(SECOND)
    reads = 0
    const agent = await signIn(made.app, 'alice')
    await agent.get('/mfa').expect(200)
    await agent.get('/secret').expect(401)
    expect(reads).toBe(2)
  })

  itWithSession(
    'ends factors, sessions and trust, notifies every contact, and names who did it and why',
    async () => {
      const clock = stopClock()
      const made = recoveringHost()
      await signInAndTrust(made, 'alice')
      const owner = await signInByApp(made)
      clock.move(SECOND)
      const { code, expiresAt } = await resetAlice(made, { approvedBy: 'staff-8' })
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
      expect(expiresAt).toBe(Date.now() + HOUR)
      await owner.get('/secret').expect(401)
      expect(made.ended[0]?.factors.map(({ id }) => id)).toEqual(['app', 'sms', 'email'])
      expect(made.told('devices_revoked')).toMatchObject([{ count: 1, why: 'help_desk' }])
      expect(made.told('account_reset')).toEqual([
        {
          type: 'account_reset',
          userId: 'u-ali',
          at: Date.now(),
          ...ORDER,
          approvedBy: 'staff-8',
          methods: ['app', 'sms', 'email'],
        },
      ])
      expect(made.toldContacts('account_reset').sort()).toEqual([...CONTACTS].sort())
      for (const { notice } of made.sent) {
        expect(JSON.stringify(notice)).not.toMatch(/staff-7|video call/)
        expect(JSON.stringify(notice)).not.toContain(code)
      }
      expect(JSON.stringify(made.events)).not.toContain(code)
      expect(made.metrics().resets).toBe(1)
    },
  )

  it('has the user enter the bypass code at the next sign-in, and then set up a new factor', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { code } = await resetAlice(made)
    clock.move(SECOND)
    const agent = await signIn(made.app, 'alice')
    expect((await agent.get('/mfa')).body).toMatchObject({ status: 'pending', factors: [], bypass: true })
    await agent.get('/secret').expect(401)
    await verify(agent, code.toLowerCase().replaceAll('-', ' '), { factor: 'bypass' }).expect(200, {
      status: 'enrollment_required',
      next: '/mfa/enroll-app',
    })
    expect(made.told('bypass_code_used')).toMatchObject([{ userId: 'u-ali' }])
    expect((await agent.get('/mfa').expect(200)).body.enroll).toBe('/mfa/enroll-app')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    await agent.get('/secret').expect(200)

    clock.move(SECOND)
    made.standIn.setApp('alice@example.com', '987654')
    const next = await signIn(made.app, 'alice')
    await verify(next, '987654', { factor: 'app' }).expect(200)
  })

  it('ends a session whose correct code is being checked, and says so (R07)', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const agent = await signIn(made.app, 'alice')
    await challenge(agent, 'sms').expect(200)
    const held = made.standIn.hold()
    const late = verify(agent, made.standIn.newestCode()).then((answer) => answer)
    await held.arrived
    await resetAlice(made)
    clock.move(SECOND)
    held.release()
    const answer = await late
    expect(answer.status).toBe(401)
    expect(answer.body.code).toBe('session_ended')
    expect(made.told('verified')).toEqual([])
    expect((await agent.get('/mfa')).body.status).toBe('none')
  })

  it('leads a browser to the page for the code, and from there to enrollment', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    const { code } = await resetAlice(made)
    clock.move(SECOND)
    const agent = browserAgent(made.app)
    await login(agent, 'alice').type('form')
    await agent.get('/secret').expect(303).expect('Location', '/mfa')
    await agent.get('/mfa').expect(303).expect('Location', '/mfa/verify?factor=bypass')
    const page = await agent.get('/mfa/verify?factor=bypass').expect(200)
    expect(page.text).toContain('Enter the code from support')
    const wrong = await verify(agent, 'AAAA-AAAA-AAAA-AAAA', { factor: 'bypass' }).type('form').expect(303)
    expect(wrong.headers.location).toMatch(/^\/mfa\/verify\?factor=bypass/)
    expect((await agent.get(wrong.headers.location ?? '')).text).toContain('Wrong code')
    await verify(agent, code, { factor: 'bypass' })
      .type('form')
      .expect(303)
      .expect('Location', '/mfa/enroll-app')
    await agent.get('/mfa/enroll-app').expect(200)
  })

  it('ends only the chosen factors', async () => {
    const clock = stopClock()
    let left: string[] = []
    const made = recoveringHost({
      forgets: false,
      options: {
        policy({ factors }) {
          left = factors.map(({ id }) => id)
          return 'optional'
        },
      },
    })
    const { code } = await resetAlice(made, { factors: ['app'] })
    expect(made.told('account_reset')).toMatchObject([{ methods: ['app'] }])
    clock.move(SECOND)
    const agent = await signIn(made.app, 'alice')
    expect(left).toEqual(['sms', 'email'])
    await verify(agent, code, { factor: 'bypass' }).expect(200)
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    clock.move(SECOND)
    expect((await signInBy(made, 'alice', 'sms')).body.status).toBe('verified')
  })

  it('refuses one person where two are required', async () => {
    const made = recoveringHost({ options: { recovery: { requireTwoApprovers: true } as never } })
    for (const approvedBy of [undefined, 'staff-7', ' STAFF-7 ', 'ｓｔａｆｆ-7']) {
      await expect(resetAlice(made, { approvedBy })).rejects.toMatchObject({ code: 'ERR_MFA_RESET_APPROVAL' })
    }
    expect(made.told('account_reset')).toEqual([])
    expect(made.sent).toEqual([])
    await signInByApp(made)
    await resetAlice(made, { approvedBy: 'staff-8' })
    expect(made.told('account_reset')).toHaveLength(1)
  })

  it('needs a name, a reason and factors of the user', async () => {
    const made = recoveringHost()
    for (const wrong of [
      { by: '' },
      { by: 7 },
      { by: 'x'.repeat(201) },
      { reason: ' ' },
      { approvedBy: '' },
    ]) {
      await expect(resetAlice(made, wrong)).rejects.toThrow(/must be text of 1 to/)
    }
    await expect(resetAlice(made, { factors: ['app', 'fax'] })).rejects.toThrow(/no factor with the id fax/)
    expect(made.told('account_reset')).toEqual([])
    const plain = host()
    const { alice } = plain.users
    if (!alice) throw new Error('expected alice')
    await expect(createMfa(plain.mfa).account.reset(alice, ORDER)).rejects.toThrow(
      /needs the option recovery/,
    )
  })

  it('replaces a pending recovery', async () => {
    const clock = stopClock()
    const made = recoveringHost()
    await requestRecovery(made)
    await resetAlice(made)
    clock.move(12 * HOUR)
    expect(await made.sendDueNotices()).toBe(0)
  })

  it('does without the routes of recovery if the app wants only the help desk', async () => {
    const clock = stopClock()
    const made = recoveringHost({ options: { recovery: { selfService: false } as never } })
    const { agent } = await signInBy(made, 'alice')
    await agent.get('/mfa/recover').expect(404)
    const { code } = await resetAlice(made)
    clock.move(SECOND)
    const later = await signIn(made.app, 'alice')
    await verify(later, code, { factor: 'bypass' }).expect(200)
  })

  it('can be repeated: the earlier code is void, and what ended stays ended', async () => {
    const clock = stopClock()
    const made = recoveringHost({ forgets: false })
    const first = await resetAlice(made, { factors: ['app'] })
    clock.move(MINUTE)
    const second = await resetAlice(made, { factors: ['sms'] })
    clock.move(SECOND)
    const agent = await signIn(made.app, 'alice')
    await verify(agent, first.code, { factor: 'bypass' }).expect(401)
    await verify(agent, second.code, { factor: 'bypass' }).expect(200)
  })
})
