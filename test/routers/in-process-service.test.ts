import { describe, expect, it } from 'vitest'
import type { MfaEvent, MfaOptions } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { SECOND, stopClock, stopTimers } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { type Host, host, signIn, signInFully } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'
import { sent, unanswered } from '../kit/unanswered.js'

type Service = Extract<MfaOptions['service'], { send: unknown }>
type Agent = Awaited<ReturnType<typeof signIn>>

/** Has one method of the host's service return this value, whatever the types say, until the result is called. */
function answering(verb: keyof Service, answer: unknown, made: Pick<Host, 'standIn'>) {
  const whole = { ...made.standIn.service }
  Object.assign(made.standIn.service, { [verb]: async () => answer })
  return () => void Object.assign(made.standIn.service, whole)
}

function observedHost() {
  const events: MfaEvent[] = []
  const logged: string[] = []
  const logger = { warn: () => {}, error: (text: string) => void logged.push(text) }
  const made = host({ options: { logger, onEvent: (event) => void events.push(event) } })
  return { made, logged, failed: () => events.filter(({ type }) => type === 'service_failed') }
}

interface Case {
  readonly prepare: (made: Host) => Promise<Agent>
  readonly ask: (made: Pick<Host, 'standIn'>, agent: Agent) => ReturnType<Agent['post']>
  readonly answers: readonly unknown[]
}

const INVALID: readonly unknown[] = [
  undefined,
  null,
  true,
  'sent',
  {},
  { valid: true },
  { outcome: 'ok' },
  { outcome: 'refused' },
  { outcome: 'refused', refusal: { reason: 'made_up' } },
  { outcome: 'refused', refusal: { reason: 'locked' } },
  { outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: Number.NaN } },
]

const CASES: Record<'send' | 'verify' | 'enrollApp' | 'sendBackupCodes', Case> = {
  send: {
    prepare: (made) => signIn(made.app, 'bob'),
    ask: (_made, agent) => challenge(agent, 'sms'),
    answers: [
      { outcome: 'sent', challenge: 7 },
      { outcome: 'sent', expiresInSeconds: Number.NaN },
      { outcome: 'sent', expiresInSeconds: '300' },
      { outcome: 'sent', resendInSeconds: -1 },
      { outcome: 'valid' },
    ],
  },
  verify: {
    async prepare(made) {
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms').expect(200)
      return agent
    },
    ask: (made, agent) => verify(agent, made.standIn.newestCode()),
    answers: [{ outcome: 'VALID' }, { outcome: 'sent' }, { outcome: 'valid', backupCodesLeft: -1 }],
  },
  enrollApp: {
    async prepare(made) {
      const agent = await signInFully(made, 'bob')
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      return agent
    },
    ask: (_made, agent) => agent.post('/mfa/enroll-app').send({}),
    answers: [{ outcome: 'prepared' }, { outcome: 'prepared', qr: 'https://elsewhere.example/qr.png' }],
  },
  sendBackupCodes: {
    prepare: (made) => signInFully(made, 'bob'),
    ask: (_made, agent) => agent.post('/mfa/backup').send({}),
    answers: [
      { outcome: 'sent', count: 'ten' },
      { outcome: 'sent', count: 1.5 },
    ],
  },
}

describe.each(Object.entries(CASES))(
  'a response of the host’s own service to %s that is invalid (R75)',
  (verb, { prepare, ask, answers }) => {
    it('leads to a 502, an event and a log entry, and can be followed by a valid one', () =>
      everyCase(
        [...INVALID, ...answers].map((answer) => [answer]),
        async (answer) => {
          const clock = stopClock()
          const { made, logged, failed } = observedHost()
          const agent = await prepare(made)
          const restore = answering(verb as keyof Service, answer, made)
          const refused = await ask(made, agent).expect(502)
          expect(refused.body.code).toBe('service_unavailable')
          expect(failed()).toMatchObject([{ errorCode: 'ERR_MFA_SERVICE_ANSWER' }])
          expect(logged.join()).toContain(verb)
          // The session still has what it had before.
          restore()
          clock.move(30_000)
          await ask(made, agent).expect(200)
        },
      ))
  },
)

describe('a service of the host’s own (R77)', () => {
  it('consumes no attempt with an invalid response', async () => {
    const { made } = observedHost()
    const agent = await CASES.verify.prepare(made)
    const restore = answering('verify', { valid: true }, made)
    for (let attempt = 0; attempt < 12; attempt++) await CASES.verify.ask(made, agent).expect(502)
    await agent.get('/secret').expect(401)
    restore()
    await CASES.verify.ask(made, agent).expect(200)
  })

  it('consumes no attempt where it refuses to check a code', async () => {
    const { made } = observedHost()
    const agent = await CASES.verify.prepare(made)
    const refusal = { reason: 'locked', retryAfterSeconds: 60 }
    const restore = answering('verify', { outcome: 'refused', refusal }, made)
    for (let attempt = 0; attempt < 12; attempt++) {
      const refused = await CASES.verify.ask(made, agent).expect(429)
      expect(refused.body).toMatchObject({ code: 'locked', retryAfterSeconds: 60 })
    }
    restore()
    await CASES.verify.ask(made, agent).expect(200)
  })

  it('can report fractions of seconds', async () => {
    const { made } = observedHost()
    const { send } = made.standIn.service
    made.standIn.service.send = async (request) => ({
      ...(await send(request)),
      ...{ expiresInSeconds: 299.7654321, resendInSeconds: 30.2654321 },
    })
    const agent = await CASES.verify.prepare(made)
    expect((await agent.get('/mfa').expect(200)).body.challenge).toMatchObject({ factor: 'sms' })
    await CASES.verify.ask(made, agent).expect(200)
    await agent.get('/secret').expect(200)
  })

  it('can ask for a wait of fractions of seconds', async () => {
    const { made } = observedHost()
    const refusal = { reason: 'limited', retryAfterSeconds: 12.3 }
    answering('send', { outcome: 'refused', refusal }, made)
    const refused = await CASES.send.ask(made, await CASES.send.prepare(made)).expect(429)
    expect(refused.headers['retry-after']).toBe('13')
  })
})

describe.each(Object.entries(CASES))(
  'a service of the host’s own whose function %s never answers (R77)',
  (verb, { prepare, ask }) => {
    it('fails the request after five seconds, like a service over HTTP, and ignores a later answer', async () => {
      const { made, logged, failed } = observedHost()
      const agent = await prepare(made)
      const whole = { ...made.standIn.service }
      const { call, called, resolve } = unanswered<unknown>()
      Object.assign(made.standIn.service, { [verb]: call })
      const timers = stopTimers()
      const asked = sent(ask(made, agent))
      await called
      await timers.pass(5 * SECOND - 1)
      expect(asked.state.isAnswered).toBe(false)
      await timers.pass(1)
      const { status, body, headers } = await asked.answer
      expect([status, body.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '5'])
      expect(failed()).toMatchObject([{ errorCode: 'ERR_MFA_SERVICE_TIMEOUT' }])
      expect(logged.join()).toContain(`${verb} within 5000 ms`)
      resolve({ outcome: 'valid' })
      timers.run()

      Object.assign(made.standIn.service, whole)
      stopClock().set(Date.now() + 60 * SECOND)
      await ask(made, agent).expect(200)
    })
  },
)

it('a service of the host’s own that never answers consumes no attempt (R77)', async () => {
  const { made } = observedHost()
  const agent = await CASES.verify.prepare(made)
  const { verify: evaluate } = made.standIn.service
  for (let attempt = 0; attempt < 6; attempt++) {
    const { call, called } = unanswered<never>()
    made.standIn.service.verify = call
    const timers = stopTimers()
    const asked = sent(CASES.verify.ask(made, agent))
    await called
    await timers.pass(5 * SECOND)
    expect((await asked.answer).status).toBe(503)
    timers.run()
  }
  made.standIn.service.verify = evaluate
  await CASES.verify.ask(made, agent).expect(200)
})
