import { describe, expect, it } from 'vitest'
import { type MfaEvent, ServiceError } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, signIn, signInFully } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

type Agent = Awaited<ReturnType<typeof signIn>>

/** The factor that the route of each method needs, and the request that calls the method. */
const verbs: {
  verb: string
  prepare: (made: Host) => Promise<Agent>
  ask: (made: Host, agent: Agent) => ReturnType<Agent['post']>
}[] = [
  {
    verb: 'send',
    prepare: (made) => signIn(made.app, 'bob'),
    ask: (_made, agent) => challenge(agent, 'sms'),
  },
  {
    verb: 'verify',
    prepare: async (made) => {
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms').expect(200)
      return agent
    },
    ask: (made, agent) => verify(agent, made.standIn.newestCode()),
  },
  {
    verb: 'enrollApp',
    prepare: async (made) => {
      const agent = await signInFully(made, 'bob')
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      return agent
    },
    ask: (_made, agent) => agent.post('/mfa/enroll-app').send({}),
  },
  {
    verb: 'verify',
    prepare: async (made) => {
      const agent = await signInFully(made, 'bob')
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      return agent
    },
    ask: (_made, agent) => agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }),
  },
  {
    verb: 'sendBackupCodes',
    prepare: (made) => signInFully(made, 'bob'),
    ask: (_made, agent) => agent.post('/mfa/backup').send({}),
  },
]

const troubles = [
  ['ERR_MFA_SERVICE_UNAVAILABLE', 503, 'service_unavailable'],
  ['ERR_MFA_SERVICE_TIMEOUT', 503, 'service_unavailable'],
  ['ERR_MFA_SERVICE_ANSWER', 502, 'service_unavailable'],
  ['ERR_MFA_SERVICE_KEY', 503, 'service_misconfigured'],
  ['ERR_MFA_SERVICE_REQUEST', 503, 'service_unavailable'],
] as const

describe.each(verbs)('a service that fails in $verb (R77, R84)', ({ verb, prepare, ask }) => {
  it('leads to the status of its fault, consumes nothing, and works again afterwards', () =>
    everyCase(troubles, async ([code, status, problem]) => {
      const made = host()
      const agent = await prepare(made)
      made.standIn.setTrouble(async () => {
        throw new ServiceError(code, 'upstream said <b>secret</b> at /srv/app.js:3', {
          cause: new Error('inner'),
          effect: 'none',
        })
      })
      for (let attempt = 0; attempt < 12; attempt++) {
        const answer = await ask(made, agent).expect(status)
        expect(answer.body.code).toBe(problem)
        expect(answer.text).not.toMatch(/secret|inner|srv/)
        const page = await ask(made, agent).set('Accept', 'text/html').expect(status)
        expect(page.text).toContain('<!doctype html>')
        expect(page.text).not.toMatch(/secret|inner|srv/)
      }
      made.standIn.setTrouble(undefined)
      await ask(made, agent).expect(200)
      expect(made.standIn.count(verb)).toBeGreaterThan(24)
    }))

  it('with an unknown error leads to a 500 of the host, approves nobody, and consumes no attempt', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await prepare(made)
    made.standIn.setTrouble(async () => {
      throw new RangeError('a bug')
    })
    // A message may have been sent before the bug, so there is a wait before the next one (R43).
    const attempts = verb === 'send' || verb === 'sendBackupCodes' ? 1 : 12
    for (let attempt = 0; attempt < attempts; attempt++) await ask(made, agent).expect(500)
    made.standIn.setTrouble(undefined)
    clock.move(30 * SECOND)
    await ask(made, agent).expect(200)
  })
})

describe('a service of the host that throws instead of rejecting (R77)', () => {
  const throws = () => {
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'not ready')
  }

  it('in any verb consumes nothing either, and emits an event', () =>
    everyCase(verbs, async ({ verb, prepare, ask }) => {
      const events: MfaEvent[] = []
      const made = host({ options: { onEvent: (event) => void events.push(event) } })
      const agent = await prepare(made)
      const whole = { ...made.standIn.service }
      Object.assign(made.standIn.service, { [verb]: throws })
      for (let attempt = 0; attempt < 12; attempt++) await ask(made, agent).expect(503)
      expect(events.filter(({ type }) => type === 'service_failed')).toHaveLength(12)
      Object.assign(made.standIn.service, whole)
      await ask(made, agent).expect(200)
    }))
})

describe('a service that is slow or down (R77)', () => {
  it('signs the user in when it approves the code, and not before', async () => {
    const made = host()
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms')
    const held = made.standIn.hold()
    const late = verify(agent, made.standIn.newestCode()).then((answer) => answer)
    await held.arrived
    await agent.get('/secret').expect(401)
    held.release()
    expect((await late).status).toBe(200)
    await agent.get('/secret').expect(200)
  })

  it('leads to an error page, and the page of the sign-in still works', async () => {
    const made = host()
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    made.standIn.setTrouble(made.standIn.down)
    const page = await challenge(browser, 'sms').type('form').expect(503)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.headers['cache-control']).toBe('no-store')
    await browser.get('/mfa').expect(200)
  })

  it('leads to Retry-After, and to one line in the log for each request', () =>
    everyCase(['ERR_MFA_SERVICE_TIMEOUT', 'ERR_MFA_SERVICE_UNAVAILABLE'] as const, async (code) => {
      const logged: unknown[][] = []
      const error = (...parts: unknown[]) => void logged.push(parts)
      const made = host({ options: { logger: { warn: () => {}, error } } })
      const agent = await signIn(made.app, 'bob')
      made.standIn.setTrouble(async () => {
        throw new ServiceError(code, 'The service is slow.', { cause: new Error('socket hung up\nat x') })
      })
      const failed = await verify(agent, '1234567890', { factor: 'backup' }).expect(503)
      expect(failed.headers['retry-after']).toBe('5')
      expect(failed.body.retryAfterSeconds).toBe(5)
      const page = await verify(agent, '1234567890', { factor: 'backup' })
        .set('Accept', 'text/html')
        .expect(503)
      expect(page.headers['retry-after']).toBe('5')
      const line = ['countersign: The service is slow. Cause: socket hung up']
      expect(logged).toEqual([line, line])
    }))

  it('leads to Retry-After even when the user is offered other factors', async () => {
    const made = host({ options: { outage: { offer: 'other-factor' } } })
    const agent = await signIn(made.app, 'alice')
    made.standIn.setTrouble(made.standIn.down)
    const { headers, body } = await challenge(agent, 'sms').expect(503)
    expect([headers['retry-after'], body.code]).toEqual(['5', 'delivery_unavailable'])
  })
})

describe('a user whose message may have been sent although the service failed (R43, R77)', () => {
  const late = async () => {
    throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow')
  }
  const browserOf = async (made: Host, name: string) => {
    const browser = browserAgent(made.app)
    await login(browser, name).type('form')
    return browser
  }
  const ask = (browser: Agent, factor: string) => challenge(browser, factor).type('form')

  it('sees how long to wait, can use another factor in the meantime, and can request the code again afterwards', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await browserOf(made, 'alice')
    made.standIn.setTrouble(late)
    const failed = await ask(browser, 'sms').expect(503)
    expect(failed.text).toContain('it didn’t count as an attempt')
    expect(failed.text).toContain('href="/mfa"')
    await browser.get('/mfa').expect(200)

    const early = await ask(browser, 'sms').redirects(1).expect(200)
    expect(early.text).toContain('You just requested a code')
    expect(early.text).toContain('data-mfa-left="30"')
    expect(early.text).not.toContain('name="code"')
    expect(factorsOn(early.text)).toEqual(['app', 'backup', 'email', 'sms'])

    made.standIn.setTrouble(undefined)
    clock.move(30 * SECOND)
    await ask(browser, 'sms').expect(303)
    const code = made.standIn.newestCode()
    await verify(browser, code).type('form').expect(303)
  })

  it('can still enter the code of the first message when the second failed', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await browserOf(made, 'alice')
    await ask(browser, 'sms').expect(303)
    const code = made.standIn.newestCode()
    clock.move(30 * SECOND)
    made.standIn.setTrouble(late)
    await ask(browser, 'sms').expect(503)
    await browser.get('/mfa').expect(303).expect('Location', '/mfa/verify')
    const early = await ask(browser, 'sms').redirects(1).expect(200)
    expect(early.text).toContain('name="code"')
    expect(early.text).toContain('data-mfa-left="60"')
    made.standIn.setTrouble(undefined)
    await verify(browser, code).type('form').expect(303)
  })

  it('still finds the form for backup codes, with the wait', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await browserOf(made, 'bob')
    await ask(browser, 'sms').expect(303)
    await verify(browser, made.standIn.newestCode()).type('form').expect(303)
    made.standIn.setTrouble(late)
    await browser.post('/mfa/backup').expect(503)
    const early = await browser.post('/mfa/backup').redirects(1).expect(200)
    expect(early.text).toContain('You can request it again in 30 seconds')
    expect(early.text).toContain('action="/mfa/backup"')
    made.standIn.setTrouble(undefined)
    clock.move(30 * SECOND)
    await browser.post('/mfa/backup').expect(303)
  })
})

describe('a page while the service is down', () => {
  it('says that the code did not count only where one was typed, and leads back a user who is signed in', async () => {
    const made = host({ options: { keys: false } })
    const signedIn = (await signInFully(made, 'bob')).set('Accept', 'text/html')
    await approveChange(signedIn, '/mfa/enroll-app', byStandIn(made, signedIn))
    const pending = browserAgent(made.app)
    await login(pending, 'bob').type('form')
    await challenge(pending, 'sms').type('form').expect(303)
    made.standIn.setTrouble(made.standIn.down)
    const typed = (await verify(pending, '123123').type('form').expect(503)).text
    expect(typed).toContain('It’s not your fault, and it didn’t count as an attempt.')
    expect(typed).toContain('href="/mfa">Try again')
    const prepared = (await signedIn.post('/mfa/enroll-app').type('form').send({}).expect(503)).text
    expect(prepared).toContain('<h1>This page isn’t available right now</h1>')
    expect(prepared).not.toMatch(/check codes|attempt/)
    expect(prepared).toContain('href="/mfa">Try again')
    expect(prepared).toContain('href="/">Back to Testbed')
  })
})

describe('a service that fails (R89)', () => {
  it('leads to an event that names the user, the error code and nothing else', async () => {
    const events: MfaEvent[] = []
    const made = host({ options: { onEvent: (event) => void events.push(event) } })
    const agent = await signIn(made.app, 'bob')
    made.standIn.setTrouble(made.standIn.down)
    await challenge(agent, 'sms').expect(503)
    expect(events.filter(({ type }) => type !== 'pending_login_started')).toEqual([
      {
        type: 'service_failed',
        userId: 'u-bob',
        errorCode: 'ERR_MFA_SERVICE_UNAVAILABLE',
        at: expect.any(Number),
      },
    ])
  })
})

/** The factors that a page has a form or a link for. */
function factorsOn(html: string) {
  return [...html.matchAll(/(?:name="factor" value="|\/verify\?factor=)([\w-]+)/g)].map(([, id]) => id).sort()
}
