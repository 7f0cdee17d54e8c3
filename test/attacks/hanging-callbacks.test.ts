import type { Request, Response } from 'express'
import { describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { SECOND, stopTimers } from '../kit/clock.js'
import {
  EMPTY_RECORD,
  type HostSetup,
  host,
  jsonAgent,
  signIn,
  signInFully,
  type TestUser,
} from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { sent, unanswered } from '../kit/unanswered.js'
import { followNotMeLink, noticingHost, passBothFactors } from '../notices/kit.js'

type Options = Partial<MfaOptions<TestUser>>

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a policy that never answers (R99)', () => {
  it('fails the login after ten seconds with an error that names it, and a later "skip" is ignored', async () => {
    const policy = unanswered<'skip'>()
    const timers = stopTimers()
    const made = host({ options: { policy: policy.call } })
    const agent = jsonAgent(made.app)
    const signedIn = sent(login(agent, 'alice'))
    await policy.called
    await timers.pass(10 * SECOND - 1)
    await settled()
    expect(signedIn.state.isAnswered).toBe(false)
    await timers.pass(1)
    const { status, body } = await signedIn.answer
    expect([status, body]).toEqual([500, { failed: 'ERR_MFA_CALLBACK_TIMEOUT' }])
    expect(made.failures).toEqual([
      expect.objectContaining({
        name: 'HostError',
        message: expect.stringContaining('The option policy did not answer within 10000 ms'),
      }),
    ])

    policy.resolve('skip')
    await settled()
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa')).body.status).toBe('none')
  })

  it('waits ten seconds, and a later rejection is handled', async () => {
    const policy = unanswered<'skip'>()
    const timers = stopTimers()
    const made = host({ options: { policy: policy.call } })
    const signedIn = sent(login(jsonAgent(made.app), 'alice'))
    await policy.called
    await timers.pass(10 * SECOND)
    expect((await signedIn.answer).status).toBe(500)
    policy.reject(new Error('host'))
    await settled()
  })

  it('may answer within that time', async () => {
    const policy = unanswered<'skip'>()
    const timers = stopTimers()
    const made = host({ options: { policy: policy.call } })
    const agent = jsonAgent(made.app)
    const signedIn = sent(login(agent, 'alice'))
    await policy.called
    await timers.pass(10 * SECOND - 1)
    policy.resolve('skip')
    expect((await signedIn.answer).status).toBe(200)
    await timers.pass(1)
    await agent.get('/secret').expect(200)
  })
})

describe('a list of factors that never comes (R99)', () => {
  it('fails each request of a pending login, which is pending again when the list is back', async () => {
    const timers = stopTimers()
    let isHanging = false
    const list = unanswered<[]>()
    const made = host({
      options: { factors: (user) => (isHanging ? list.call() : user.factors) },
    })
    const agent = await signIn(made.app, 'bob')
    isHanging = true
    const page = sent(agent.get('/mfa'))
    await list.called
    await timers.pass(10 * SECOND)
    expect((await page.answer).body).toEqual({ failed: 'ERR_MFA_CALLBACK_TIMEOUT' })
    // No factors would mean that the user needs none.
    list.resolve([])
    await settled()
    isHanging = false
    await agent.get('/secret').expect(401)
    expect((await agent.get('/mfa').expect(200)).body.status).toBe('pending')
  })
})

describe('other work of the host that never ends (R99)', () => {
  it('after an enrollment that only its record knows of fails the request, and the session is not verified by it', async () => {
    const timers = stopTimers()
    const work = unanswered<void>()
    const made = host({ options: { ...EMPTY_RECORD, onFactorsChanged: work.call, policy: () => 'require' } })
    const agent = await signIn(made.app, 'nina')
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    made.standIn.setApp('nina@example.com', '424242')
    const confirmed = sent(agent.post('/mfa/enroll-app/confirm').send({ code: '424242' }))
    await work.called
    await timers.pass(10 * SECOND)
    expect((await confirmed.answer).body).toEqual({ failed: 'ERR_MFA_CALLBACK_TIMEOUT' })
    work.resolve()
    await settled()
    // A user whom the policy requires to have a factor, and whose record has none yet.
    await agent.get('/secret').expect(401)
  })

  it('when a language is remembered fails the request', async () => {
    const timers = stopTimers()
    const work = unanswered<void>()
    const languages: Options['languages'] = {
      offer: ['en', 'de'],
      locale: () => 'en',
      remember: (_req: Request, _res: Response) => work.call(),
    }
    const made = host({ options: { languages } })
    const chosen = sent(jsonAgent(made.app).post('/mfa/language').send({ language: 'de' }))
    await work.called
    await timers.pass(10 * SECOND)
    expect((await chosen.answer).body).toEqual({ failed: 'ERR_MFA_CALLBACK_TIMEOUT' })
  })

  it('after a "this wasn\'t me" link is logged, and the sessions are ended', async () => {
    const timers = stopTimers()
    const work = unanswered<void>()
    const logged: string[] = []
    const setup: HostSetup = {
      options: {
        notices: { onCompromise: work.call },
        logger: { warn: () => {}, error: (message, error) => logged.push(`${message}: ${error}`) },
      },
    }
    const made = noticingHost(setup)
    const agent = await passBothFactors(made, 'bob', { trust: true })
    const ended = sent(followNotMeLink(made, made.newest('device_trusted')))
    await work.called
    await timers.pass(10 * SECOND)
    expect((await ended.answer).body).toEqual({ status: 'secured' })
    await agent.get('/secret').expect(401)
    expect(logged).toEqual([
      expect.stringContaining('The option notices.onCompromise did not answer within 10000 ms'),
    ])
  })

  it('after an event or a notice delays nothing', async () => {
    stopTimers()
    const never = () => new Promise<never>(() => {})
    const made = noticingHost({ options: { onEvent: never, notices: { onNotice: never } } })
    const agent = await signInFully(made, 'bob')
    await agent.get('/secret').expect(200)
  })
})
