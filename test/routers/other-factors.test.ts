import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../src/errors.js'
import type { MfaEvent, MfaOptions } from '../../src/index.js'
import { answer, hostileService } from '../client/hostile-service.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, signIn, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'

type Outage = NonNullable<NonNullable<MfaOptions['outage']>['offer']>

/** A host whose service checks codes but delivers none. */
async function undelivering(
  outage: Outage | undefined,
  name = 'alice',
  effect: ServiceError['effect'] = 'unknown',
) {
  const made = host({ options: { ...(outage && { outage: { offer: outage } }) } })
  const { send } = made.standIn.service
  made.standIn.service.send = async (request) => {
    await send(request)
    throw new ServiceError('ERR_MFA_SERVICE_TIMEOUT', 'slow', { effect })
  }
  return {
    made,
    agent: await signIn(made.app, name),
    restore: () => Object.assign(made.standIn.service, { send }),
  }
}

const browserOf = async ({ app }: Host, name: string) => {
  const browser = browserAgent(app)
  await login(browser, name).type('form')
  return browser
}

const offered = (html: string) =>
  [...html.matchAll(/(?:name="factor" value="|\/verify\?factor=)([\w-]+)/g)].map(([, id]) => id).sort()

describe('a code that cannot be delivered (R77)', () => {
  it('leads to no other factor when outage does not say so', () =>
    everyCase([undefined, 'nothing'] as const, async (outage) => {
      const { made, agent } = await undelivering(outage)
      const answer = await challenge(agent, 'sms').expect(503)
      expect(answer.body.code).toBe('service_unavailable')
      expect(answer.body).not.toHaveProperty('factors')
      const browser = await browserOf(made, 'alice')
      const page = await challenge(browser, 'sms').type('form').expect(503)
      expect(offered(page.text)).toEqual([])
    }))

  it('leads to the other factors and a backup code for other-factor, and one of them signs in', async () => {
    const { made, agent } = await undelivering('other-factor')
    const answer = await challenge(agent, 'sms').expect(503)
    expect(answer.body).toMatchObject({ code: 'delivery_unavailable', backup: true, next: '/mfa' })
    expect(answer.body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'email'])
    const browser = await browserOf(made, 'alice')
    const page = await challenge(browser, 'sms').type('form').expect(503)
    expect(offered(page.text)).toEqual(['app', 'backup', 'email'])
    expect(page.text).toContain('We can’t send codes right now')
    made.standIn.setApp('alice@example.com', '123456')
    await challenge(browser, 'app').type('form').expect(303)
    await verify(browser, '123456').type('form').expect(303)
    await browser.get('/secret').expect(200)
  })

  it('leads to backup codes alone for backup-only, and one of them signs in', async () => {
    const { made, agent } = await undelivering('backup-only')
    await made.standIn.service.sendBackupCodes({
      method: 'email',
      contact: { kind: 'email', email: 'alice@example.com' },
    })
    const answer = await challenge(agent, 'sms').expect(503)
    expect(answer.body).toMatchObject({ code: 'delivery_unavailable', factors: [], backup: true })
    const browser = await browserOf(made, 'alice')
    const page = await challenge(browser, 'sms').type('form').expect(503)
    expect(offered(page.text)).toEqual(['backup'])
    await verify(browser, 'AAAA-BBBB-CCCC-DDDD', { factor: 'backup' }).type('form').expect(303)
    await browser.get('/secret').expect(200)
  })

  it.each(['other-factor', 'backup-only'] as const)(
    'consumes nothing and approves nobody under %s when it was certainly not sent, and is sent once the service is back',
    async (outage) => {
      const { made, agent, restore } = await undelivering(outage, 'alice', 'none')
      for (let attempt = 0; attempt < 12; attempt++) {
        await challenge(agent, 'sms').expect(503)
      }
      await agent.get('/secret').expect(401)
      restore()
      await challenge(agent, 'sms').expect(200)
      await verify(agent, made.standIn.newestCode()).expect(200)
    },
  )

  it('is reported as a misconfiguration, not as an outage, when the service refuses the key', async () => {
    const made = host({ options: { outage: { offer: 'other-factor' } } })
    made.standIn.setTrouble(async () => {
      throw new ServiceError('ERR_MFA_SERVICE_KEY', 'not this key')
    })
    const agent = await signIn(made.app, 'alice')
    const answer = await challenge(agent, 'sms').expect(503)
    expect(answer.body.code).toBe('service_misconfigured')
    expect(answer.body).not.toHaveProperty('factors')
  })

  itWithSession('leads to no contact in the response to a session that ended in the meantime', async () => {
    const { made, agent } = await undelivering('other-factor')
    const held = made.standIn.hold()
    const late = challenge(agent, 'sms').then((answer) => answer)
    await held.arrived
    await agent.post('/logout').expect(200)
    held.release()
    const answer = await late
    expect(answer.body.code).toBe('session_ended')
    expect(answer.text).not.toContain('•••')
  })
})

describe('a code that cannot be checked (R77)', () => {
  it('leads to no other factor for a request that is not about an outage', () =>
    everyCase(['other-factor', 'backup-only'] as const, async (outage) => {
      const made = host({ options: { outage: { offer: outage } } })
      const agent = await signIn(made.app, 'alice')
      await challenge(agent, 'sms').expect(200)
      made.standIn.setTrouble(made.standIn.down)
      const answer = await verify(agent, made.standIn.newestCode()).expect(503)
      expect(answer.body.code).toBe('service_unavailable')
      await agent.get('/secret').expect(401)
    }))
})

describe('a remote service (R77)', () => {
  /** A service over HTTP that responds with `status`. */
  async function remote() {
    const state = { status: 503 }
    const { url, calls } = await hostileService((response, call) => answer(state.status, {})(response, call))
    const events: MfaEvent[] = []
    const options: Partial<MfaOptions<TestUser>> = {
      service: { baseUrl: url, apiKey: '0123456789abcdef', dialect: 'published' },
      onEvent: (event) => void events.push(event),
    }
    return { state, calls, events, made: host({ options }) }
  }

  it('is called five times while it fails, then paused with Retry-After, and used again once it works', async () => {
    const clock = stopClock()
    const { state, calls, events, made } = await remote()
    const agent = await signIn(made.app, 'bob')
    const ask = () => challenge(agent, 'sms')
    for (let attempt = 0; attempt < 5; attempt++) await ask().expect(503)
    const paused = await ask().expect(503)
    expect(paused.headers['retry-after']).toBe('1')
    expect(paused.body).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 })
    const page = await ask().set('Accept', 'text/html').expect(503)
    expect(page.headers['retry-after']).toBe('1')
    expect(calls).toHaveLength(5)

    state.status = 200
    await ask().expect(503)
    clock.move(SECOND)
    await ask().expect(200)
    expect(calls).toHaveLength(6)
    expect(events.filter(({ type }) => /^service_(?!failed)/.test(type))).toMatchObject([
      { type: 'service_paused', part: 'delivery' },
      { type: 'service_resumed', part: 'delivery' },
    ])
  })

  it('is not paused by wrong codes, however many', async () => {
    const { state, made } = await remote()
    state.status = 200
    for (let login = 0; login < 2; login++) {
      const agent = await signIn(made.app, 'bob')
      await challenge(agent, 'sms').expect(200)
      state.status = 401
      for (let guess = 0; guess < 4; guess++) {
        expect((await verify(agent, '000000').expect(401)).body.code).toBe('invalid_code')
      }
      state.status = 200
    }
    const agent = await signIn(made.app, 'bob')
    await challenge(agent, 'sms').expect(200)
    await verify(agent, '123456').expect(200)
  })
})
