import { describe, expect, it } from 'vitest'
import type { MfaEvent } from '../../src/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { type Host, host, jsonAgent, type TestUser } from '../kit/host.js'
import { publishedService } from '../kit/published-service.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** A host with three users who have a phone and an authenticator app, at a service that answers a refused key with a bare 401. */
async function published() {
  const service = await publishedService()
  const events: MfaEvent[] = []
  const made = host({
    options: { service: service.address, onEvent: (event) => void events.push(event) },
  })
  const names = ['ann', 'ben', 'cyd', 'dan']
  names.forEach((name, nr) => {
    const [email, phone] = [`${name}@example.com`, `+44770090012${nr}`]
    const factors: TestUser['factors'] = [
      { method: 'app', user: email },
      { method: 'sms', phone },
    ]
    made.users[name] = { id: `u-${name}`, email, factors }
    service.setCode(email, 'APP', '271828')
  })
  const warnings = () => events.filter((event) => event.type === 'warning').map(({ code }) => code)
  return { ...made, ...service, names, events, warnings }
}

async function pending({ app }: Pick<Host, 'app'>, name: string) {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  return agent
}

const RIGHT = '271828'
const WRONG = '000000'

/** Types a code of the app of a user in a login of its own. Returns the code of the answer. */
async function type(made: Pick<Host, 'app'>, name: string, code: string): Promise<string> {
  const { status, body } = await verify(await pending(made, name), code, { factor: 'app' })
  return status === 200 ? 'verified' : body.code
}

describe('an API key that was withdrawn, at a service that answers it like a wrong code', () => {
  it('is no wrong code after a refused send: 503, no attempt is lost, said once', async () => {
    const made = await published()
    made.state.isKeyValid = false
    const agent = await pending(made, 'ann')
    await challenge(agent, 'sms').expect(503)
    for (let tries = 0; tries < 12; tries++) {
      const { body, status } = await verify(agent, RIGHT, { factor: 'app' })
      expect([status, body.code]).toEqual([503, 'service_misconfigured'])
    }
    expect(made.warnings()).toEqual(['MFA_WARN_KEY_REFUSED'])
    made.state.isKeyValid = true
    await challenge(agent, 'sms').expect(200)
    const { body } = await verify(agent, WRONG, { factor: 'app' }).expect(401)
    expect(body).toMatchObject({ code: 'invalid_code', attemptsLeft: 4 })
    await verify(agent, RIGHT, { factor: 'app' }).expect(200)
  })

  it('is found without a send, after codes of three users in a row, by one request that names no user', async () => {
    const clock = stopClock()
    const made = await published()
    made.state.isKeyValid = false
    for (const name of ['ann', 'ann', 'ben', 'cyd'])
      expect(await type(made, name, RIGHT)).toBe('invalid_code')
    for (const name of ['dan', 'ann', 'dan'])
      expect(await type(made, name, RIGHT)).toBe('service_misconfigured')
    made.state.isKeyValid = true
    expect(await type(made, 'dan', RIGHT)).toBe('service_misconfigured')
    clock.move(MINUTE)
    expect(await type(made, 'dan', RIGHT)).toBe('verified')
    expect(made.state.sends).toEqual([''])
  })

  it('is asked about at most once a minute while users type wrong codes', async () => {
    const clock = stopClock()
    const made = await published()
    for (const name of [...made.names, ...made.names]) await type(made, name, WRONG)
    expect(made.state.sends).toEqual([''])
    clock.move(MINUTE)
    await type(made, 'ann', WRONG)
    expect(made.state.sends).toEqual(['', ''])
    expect(await type(made, 'ann', RIGHT)).toBe('verified')
    for (const name of ['ben', 'ben', 'ann']) await type(made, name, WRONG)
    clock.move(MINUTE)
    await type(made, 'ben', WRONG)
    expect(made.state.sends).toEqual(['', ''])
  })
})

describe('a guesser who knows passwords', () => {
  /** The answers that the attack changes of a service whose key is valid all the time. */
  const services = {
    'the service as it is': () => {},
    'a service that refuses the sends of one user with 401': (made: Awaited<ReturnType<typeof published>>) =>
      made.state.refusedSends.add('+447700900120'),
    'a service that answers an empty send with 401': (made: Awaited<ReturnType<typeof published>>) => {
      made.state.emptySend = 401
    },
  }

  it('gets no attempt back by refused sends, or by wrong codes of several users', () =>
    everyCase(Object.entries(services), async ([, change]) => {
      const clock = stopClock()
      const made = await published()
      change(made)
      const answers: string[] = []
      for (let round = 0; round < 14; round++) {
        for (const name of made.names) {
          const agent = await pending(made, name)
          await challenge(agent, 'sms')
          const { body } = await verify(agent, WRONG, { factor: 'app' })
          answers.push(body.code)
        }
        clock.move(MINUTE + 1)
      }
      // Each account is locked at the tenth code that was evaluated.
      for (const name of made.names) {
        const ofUser = made.state.evaluated.filter(({ user }) => user.startsWith(name))
        expect(ofUser.length).toBeLessThanOrEqual(10)
      }
      expect(made.state.evaluated).toHaveLength(answers.filter((code) => code === 'invalid_code').length)
    }))

  it('gets none back while the key is refused, either: no code is sent', async () => {
    const made = await published()
    made.state.isKeyValid = false
    const agent = await pending(made, 'ann')
    await challenge(agent, 'sms').expect(503)
    for (let tries = 0; tries < 12; tries++) await verify(agent, WRONG, { factor: 'app' }).expect(503)
    made.state.isKeyValid = true
    for (let tries = 0; tries < 12; tries++) await verify(agent, WRONG, { factor: 'app' }).expect(503)
    expect(made.state.evaluated).toEqual([])
  })
})
