import { describe, expect, it, vi } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { HOUR, MINUTE, SECOND } from '../kit/clock.js'
import { jsonAgent, type TestUser } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { recoveringHost, requestRecovery, signInByApp, tokenIn } from '../recovery/kit.js'
import { everyFailure } from './failing-callbacks.js'
import { type Callback, FAILURES, optionsWith, RECOVERY_CALLBACKS } from './host-callbacks.js'

type Host = ReturnType<typeof recoveringHost>

/** The callbacks that the routes of a recovery call, with answers as long as they work. */
const AT_RECOVERY: Readonly<Record<string, Callback>> = {
  factors: (user: TestUser) => user.factors,
  policy: () => 'require',
  userId: (user: TestUser) => user.id,
  location: () => 'Lyon',
  locale: () => 'en',
  render: () => '<!doctype html>',
  onEvent: () => {},
  logger: () => {},
}

/** The answer of a callback that would help an attacker most. */
const WISHES: Readonly<Record<string, unknown>> = { factors: [], policy: 'skip', userId: 'u-nin' }

/** The timers run again after each failure. */
const stopClockAndTimers = () => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })

/** With the password alone, nobody gets in, whatever happened before. */
async function expectClosed(made: Host) {
  const passwordOnly = jsonAgent(made.app)
  await login(passwordOnly, 'alice').expect(200)
  await passwordOnly.get('/secret').expect(401)
}

describe('during a recovery, a failing callback of the host (R99, R94)', () => {
  it.each(Object.keys(AT_RECOVERY))('completes none early and signs nobody in: %s', (name) =>
    everyFailure(Object.keys(FAILURES), async (failure) => {
      stopClockAndTimers()
      const works = AT_RECOVERY[name] ?? (() => {})
      let call = works
      const made = recoveringHost({ options: optionsWith(name, (...args) => call(...args)) })
      const { agent } = await requestRecovery(made)
      const token = tokenIn(made.newest('recovery_requested'))

      call = () => FAILURES[failure]?.(WISHES[name])
      vi.setSystemTime(Date.now() + 24 * HOUR - MINUTE)
      await made.sendDueNotices().catch(() => {})
      for (const path of ['/mfa/recover', '/mfa/recover/complete']) await agent.post(path).send({})
      await agent.get('/mfa/recover').set('Accept', 'text/html')
      await jsonAgent(made.app).get(`/mfa/cancel-recovery?token=${token}`)

      call = works
      expect(made.told('recovery_completed')).toEqual([])
      await expectClosed(made)
      // The owner can still stop it.
      await jsonAgent(made.app).post('/mfa/cancel-recovery').send({ token }).expect(200)
    }),
  )
})

describe('at a reset by staff, a failing callback of the host (R99, R95)', () => {
  it.each(Object.keys(RECOVERY_CALLBACKS))(
    'keeps no session alive and signs nobody in: recovery.%s',
    (name) =>
      everyFailure(Object.keys(FAILURES), async (failure) => {
        stopClockAndTimers()
        let isFailing = false
        const wish = RECOVERY_CALLBACKS[name]
        const call = () => (isFailing ? FAILURES[failure]?.(wish) : wish)
        const recovery = { [name]: call } as object as MfaOptions<TestUser>['recovery']
        const made = recoveringHost({ options: { recovery } })
        const owner = await signInByApp(made)
        const { alice } = made.users
        if (!alice) throw new Error('expected alice')

        isFailing = true
        vi.setSystemTime(Date.now() + SECOND)
        const wasReset = await made.account.reset(alice, { by: 'staff-7', reason: 'Lost phone' }).then(
          () => true,
          () => false,
        )
        isFailing = false
        vi.setSystemTime(Date.now() + SECOND)
        // Either it is done, or it changed nothing.
        await owner.get('/secret').expect(wasReset ? 401 : 200)
        await expectClosed(made)
      }),
  )
})
