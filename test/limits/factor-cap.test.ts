import { describe, expect, it } from 'vitest'
import { type AccountNotice, createMfa, type MfaEvent } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { DAY, MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, type Host, type HostSetup, host, signIn, signInFully, testUsers } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** A host that disables factors after 20 failures, with the events and notices it received. */
function watched(setup: HostSetup = {}) {
  const events: MfaEvent[] = []
  const notices: AccountNotice[] = []
  const made = host({
    ...setup,
    options: {
      limits: { failuresBeforeDisable: 20 },
      onEvent: (event) => events.push(event),
      notices: { onNotice: (_user, notice) => notices.push(notice) },
      ...setup.options,
    },
  })
  return { ...made, events, notices }
}

type Clock = ReturnType<typeof stopClock>

/** Enters wrong codes for a factor, four a day, as an attacker who avoids the lock and the limit of messages does. */
async function guess({ app }: Pick<Host, 'app'>, clock: Clock, name: string, factor: string, times: number) {
  const codes: string[] = []
  for (let nth = 0; nth < times; nth++) {
    if (nth > 0 && nth % 4 === 0) clock.move(DAY)
    const agent = await signIn(app, name)
    if (factor === 'sms') await challenge(agent, factor)
    const answer = await verify(agent, '000000', { factor })
    codes.push(answer.body.code)
  }
  return codes
}

describe('a factor with too many unforgiven failures (R96)', () => {
  it('is disabled, even for the correct code, however many days the failures take', async () => {
    const clock = stopClock()
    const made = watched()
    made.standIn.setApp('otto@example.com', '123456')
    const codes = await guess(made, clock, 'otto', 'app', 20)
    expect(codes).toEqual([...Array(19).fill('invalid_code'), 'factor_disabled'])
    expect(made.standIn.count('verify')).toBe(20)
    clock.move(300 * DAY)
    const agent = await signIn(made.app, 'otto')
    const refused = await verify(agent, '123456', { factor: 'app' }).expect(403)
    expect(refused.body.code).toBe('factor_disabled')
    expect((await challenge(agent, 'app').expect(403)).body.code).toBe('factor_disabled')
    expect(made.standIn.count('verify')).toBe(20)
  })

  it('causes one event and one notice to the user', async () => {
    const clock = stopClock()
    const made = watched()
    await guess(made, clock, 'bob', 'sms', 23)
    expect(made.events.filter(({ type }) => type === 'factor_disabled')).toEqual([
      { type: 'factor_disabled', userId: 'u-bob', method: 'sms', at: expect.any(Number) },
    ])
    const [notice, ...others] = made.notices.filter(({ type }) => type === 'factor_disabled')
    expect(others).toEqual([])
    expect(notice).toMatchObject({ method: 'sms', to: expect.stringMatching(/02$/) })
    expect(notice?.text).toContain('Too many wrong codes')
    expect(notice?.text).not.toContain('+447700900102')
  })

  it('is not offered any more, and the other factors stay usable', async () => {
    const clock = stopClock()
    const made = watched()
    await guess(made, clock, 'alice', 'app', 20)
    clock.move(DAY)
    const agent = await signIn(made.app, 'alice')
    const { body } = await agent.get('/mfa').expect(200)
    expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['sms', 'email'])
    const browser = browserAgent(made.app)
    await login(browser, 'alice')
    const page = await browser.get('/mfa?choose').expect(200)
    expect(page.text).not.toContain('Authenticator app')
    expect((await browser.get('/mfa/verify?factor=app').expect(200)).text).toContain('Text a code')
    await signInFully(made, 'alice', 'sms')
  })

  it('still counts as the strongest factor for a change of factors (R92)', async () => {
    const clock = stopClock()
    const made = watched()
    await guess(made, clock, 'alice', 'app', 20)
    clock.move(DAY)
    const agent = await signInFully(made, 'alice', 'sms')
    const refused = await agent.post('/mfa/enroll-app').expect(401)
    expect(refused.body).toMatchObject({ code: 'step_up_required', factors: [], backup: false })
  })

  it('is a phone number for text messages and calls together', async () => {
    const clock = stopClock()
    const made = watched({
      options: {
        factors: (user) =>
          user.factors.flatMap((one) => (one.method === 'sms' ? [one, { ...one, method: 'call' }] : [])),
        limits: { failuresBeforeDisable: 20 },
      },
    })
    await guess(made, clock, 'bob', 'sms', 20)
    const agent = await signIn(made.app, 'bob')
    expect((await challenge(agent, 'call').expect(403)).body.code).toBe('factor_disabled')
    expect(made.standIn.delivered.some(({ method }) => method === 'call')).toBe(false)
  })

  it('can be the backup codes, until new ones are sent', async () => {
    const clock = stopClock()
    const made = watched()
    await guess(made, clock, 'bob', 'backup', 20)
    expect(made.notices.map(({ type }) => type)).toContain('backup_codes_disabled')
    clock.move(DAY)
    const agent = await signIn(made.app, 'bob')
    expect((await verify(agent, 'x', { factor: 'backup' })).body.code).toBe('factor_disabled')
    const owner = await signInFully(made, 'bob')
    clock.move(5 * MINUTE)
    expect((await owner.post('/transfer').expect(401)).body.backup).toBe(false)
    await challenge(owner, 'sms').expect(200)
    await verify(owner, made.standIn.newestCode()).expect(200)
    await owner.post('/mfa/backup').expect(200)
    expect((await verify(owner, '000000', { factor: 'backup' })).body.code).toBe('invalid_code')
  })

  it('is not forgiven by later sign-ins of the user (R25)', async () => {
    const clock = stopClock()
    const made = watched()
    made.standIn.setApp('otto@example.com', '123456')
    for (let round = 0; round < 4; round++) {
      await guess(made, clock, 'otto', 'app', 5)
      if (round < 3) {
        const owner = await signIn(made.app, 'otto')
        await verify(owner, '123456', { factor: 'app' }).expect(200)
      }
      clock.move(DAY)
    }
    const owner = await signIn(made.app, 'otto')
    await verify(owner, '123456', { factor: 'app' }).expect(403)
  })

  it('is enabled by the host, and its failures are forgotten when the app is enrolled again', async () => {
    const clock = stopClock()
    const made = watched()
    await guess(made, clock, 'otto', 'app', 20)
    clock.move(DAY)
    const otto = testUsers().otto
    if (!otto) throw new Error('The test host has no otto.')
    await createMfa(made.mfa).account.enableFactor(otto, { method: 'app', user: 'OTTO@example.com' })
    expect(made.events.at(-1)).toMatchObject({ type: 'factor_enabled', userId: 'u-ott', method: 'app' })
    await guess(made, clock, 'otto', 'app', 9)
    clock.move(DAY)
    const owner = await signInFully(made, 'otto')
    await approveChange(owner, '/mfa/enroll-app', byStandIn(made, owner))
    await owner.post('/mfa/enroll-app').expect(200)
    await owner.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    clock.move(DAY)
    expect(await guess(made, clock, 'otto', 'app', 19)).toEqual(Array(19).fill('invalid_code'))
  })

  it('cannot be enabled if it is invalid', async () => {
    const made = watched()
    const otto = testUsers().otto
    if (!otto) throw new Error('The test host has no otto.')
    const nonsense = { method: 'sms', phone: 'nonsense' } as const
    await expect(createMfa(made.mfa).account.enableFactor(otto, nonsense)).rejects.toThrow(TypeError)
  })
})
