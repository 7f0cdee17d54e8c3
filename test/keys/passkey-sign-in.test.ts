import { describe, expect, it } from 'vitest'
import { requireMfa } from '../../src/index.js'
import type { LoginEvidence } from '../../src/options/login.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { keyHost } from './kit.js'

/** A host that signs in with passkeys of its own. `declared` is what it says about a login. */
function declaring(declared: unknown) {
  return keyHost({
    login: { via: 'passkey' } as object,
    options: {
      login: {
        evidence: ({ login }) =>
          Reflect.get(login, 'via') === 'passkey' ? (declared as LoginEvidence) : undefined,
        issuers: { self: { amr: { hwk: 'phishing-resistant', swk: 'phishing-resistant' } } },
      },
    },
    routes: (app) => {
      app.post('/wire', requireMfa({ minStrength: 'phishing-resistant' }), (_req, res) => {
        res.json({ done: true })
      })
    },
  })
}

describe('a passkey sign-in of the host', () => {
  it('needs no second factor, and proves its kind', () =>
    everyCase(
      [
        ['hwk', ['hwk', 'user', 'mfa']],
        ['swk', ['swk', 'user', 'mfa']],
      ],
      async ([kind, amr]) => {
        const made = declaring({ issuer: 'self', amr: [kind, 'user'], authTime: Date.now() / 1000 })
        const agent = jsonAgent(made.app)
        const { body } = await login(agent, 'bob').expect(200)
        expect(body.mfa).toMatchObject({ status: 'verified', amr })
        expect((await agent.get('/secret').expect(200)).body.mfa).toMatchObject({ status: 'verified', amr })
        await agent.post('/wire').expect(200)
        expect(made.events).toMatchObject([{ type: 'verified', method: 'passkey', purpose: 'sign-in' }])
      },
    ))

  it('is as old as the host says, for guards and for changes of factors', async () => {
    const clock = stopClock()
    const made = declaring({ issuer: 'self', amr: ['hwk', 'user'], authTime: Date.now() / 1000 })
    clock.move(4 * MINUTE)
    const agent = jsonAgent(made.app)
    const { body } = await login(agent, 'bob').expect(200)
    expect(body.mfa.verifiedAt).toBe(Date.now() - 4 * MINUTE)
    await agent.post('/transfer').expect(200)
    await agent.post('/mfa/backup').send({}).expect(200)
    clock.move(MINUTE)
    await agent.post('/transfer').expect(401)
    expect((await agent.post('/mfa/backup').send({}).expect(401)).body.code).toBe('step_up_required')
  })

  it('is off for a login that the host says nothing about, and by default', async () => {
    for (const made of [declaring(undefined), keyHost()]) {
      const { body } = await login(jsonAgent(made.app), 'bob').expect(200)
      expect(body.mfa.status).toBe('pending')
    }
  })

  it('is refused as any other evidence if it has another shape', () =>
    everyCase(
      [['hwk'], [true], [{ issuer: 'self', amr: 'hwk', authTime: Date.now() / 1000 }]],
      async ([answer]) => {
        const { body } = await login(jsonAgent(declaring(answer).app), 'bob').expect(200)
        expect(body.mfa.status).toBe('pending')
      },
    ))
})
