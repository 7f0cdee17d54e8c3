import { createServer } from 'node:http'
import type { Express as App } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { memoryStore } from '../../src/stores/memory.js'
import { mfaTestKit, type TestAgent } from '../../src/testing/index.js'
import { signInWithMfa } from '../../src/testing/sign-in.js'
import { findingsIn, runAttack, skipAllBut } from '../kit/attack.js'
import { everyCase } from '../kit/every-case.js'
import { type HostSetup, jsonAgent } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { signToken, type TokenSetup, tokenClient, tokenHost } from '../tokens/kit.js'

const SIGN_IN = ['--sign-in', 'POST /auth/login name=bob', '--body', 'json']

/** An app with tokens, whose codes are at `/inbox`, and its address. `first` can make it worse. */
async function serve({ first, moreRoutes, ...setup }: TokenSetup = {}) {
  const kit = mfaTestKit()
  onTestFinished(() => kit.reset())
  const made = tokenHost({
    ...setup,
    options: {
      service: kit.service,
      urls: { publicUrl: 'https://vault.example' },
      recovery: { store: memoryStore(), onNotice: () => {}, onFactorsEnded: () => {} },
    },
    first(app, mfa) {
      app.get('/inbox', (_req, res) => void res.json(kit.inbox.all()))
      app.post('/mfa/challenge', (_req, _res, next) => {
        kit.clock.advance('3m')
        next()
      })
      first?.(app, mfa)
    },
    moreRoutes(app, mfa, access) {
      app.get('/api/vault', access, mfa.requireMfa(), (_req, res) => void res.json({ secret: 42 }))
      app.post('/desk/reset', async (_req, res) => {
        const bob = made.users.bob ?? expect.unreachable()
        await mfa.account.reset(bob, { by: 'staff-7', reason: 'Lost phone' })
        res.json({})
      })
      moreRoutes?.(app, mfa, access)
    },
  })
  const server = createServer(made.app)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { kit, made, address: `http://localhost:${await listenOnLoopback(server)}` }
}

/** Changes the JSON that the login route answers. */
const answering =
  (change: (body: Record<string, unknown>) => object): NonNullable<HostSetup['first']> =>
  (app: App) =>
    void app.use('/auth/login', (_req, res, next) => {
      const end = res.end.bind(res)
      res.end = ((text: string) => {
        if (!String(res.getHeader('Content-Type')).includes('json')) return end(text)
        res.removeHeader('Content-Length')
        return end(JSON.stringify(change(JSON.parse(text))))
      }) as typeof end
      next()
    })

const attacked = async (address: string, args: readonly string[] = []) => {
  const { code, report } = await runAttack(address, [
    ...[...SIGN_IN, '--protected', '/api/vault', '--inbox', '/inbox', '--route', '/api/me'],
    ...['--reset', 'POST /desk/reset', '--operator-sign-in', 'POST /auth/login name=alice', ...args],
  ])
  return { code, ...report }
}

describe('countersign attack on an app with tokens', () => {
  it('carries the reference and the token, and holds (R150, R152)', async () => {
    const { address } = await serve()
    const report = await attacked(address, ['--skip', 'open-inbox'])
    expect(report.findings.filter(({ verdict }) => verdict === 'broken')).toEqual([])
    expect(findingsIn(report, 'held')).toEqual(
      expect.arrayContaining([
        'pending-session',
        'code-in-answer',
        'code-reuse',
        'wrong-code',
        'mailbox-flood',
        'parallel-guesses',
      ]),
    )
  })

  it('finds a token in the answer of a pending login, and a reference that opens a route (R150)', async () => {
    const skips = skipAllBut('pending-session')
    const early = answering((body) =>
      body.login ? { ...body, accessToken: signToken({ sub: 'u-bob', kind: 'access' }) } : body,
    )
    const withToken = await attacked((await serve({ first: early })).address, skips)
    expect(findingsIn(withToken, 'broken')).toContain('pending-session')
    const isBearer: TokenSetup['moreRoutes'] = (app) =>
      void app.get('/api/lax', (req, res) => {
        if (/^Bearer [\w-]{43}$/.test(req.get('authorization') ?? '')) res.json({ secret: 43 })
        else res.status(401).json({})
      })
    const lax = await attacked((await serve({ moreRoutes: isBearer })).address, [
      ...skips,
      '--route',
      '/api/lax',
    ])
    expect(findingsIn(lax, 'broken')).toContain('pending-session')
  })

  it('finds a route that takes the old token after a reset, and holds at a guard (R152)', () =>
    everyCase(
      [
        ['/api/me', 'broken', 'the session goes on after the reset'],
        ['/api/vault', 'held', 'an app that was confirmed during the reset'],
      ],
      async ([path, verdict, reason]) => {
        const { address } = await serve()
        const { report } = await runAttack(address, [
          ...[...SIGN_IN, '--protected', path, '--inbox', '/inbox', '--reset', 'POST /desk/reset'],
          ...['--operator-sign-in', 'POST /auth/login name=alice', ...skipAllBut('reset-race')],
        ])
        expect(report.findings.at(-1)).toMatchObject({ verdict, reason })
      },
    ))
})

describe('countersign check on an app with tokens', () => {
  it('says what the routes do with the reference of a pending login', async () => {
    const { address } = await serve()
    const out: string[] = []
    const code = await runCommand(
      ['check', address, ...SIGN_IN, '--protected', '/api/vault', '--route', 'POST /api/transfer'],
      { env: {}, stdin: async () => '', out: (text) => void out.push(text), err: () => {} },
    )
    const text = out.join(' ').replace(/\s+/g, ' ')
    expect(text).toContain('MFA status: pending. Cookies: none.')
    expect(text).toContain('The login gives clients without cookies a reference.')
    expect(text).toContain('No bypass in')
    expect(code).toBe(0)
  })
})

describe('signInWithMfa with tokens', () => {
  it('returns the body with the tokens, and shows a factor for a step-up', () =>
    everyCase(['sms', 'app'] as const, async (factor) => {
      const { kit, made } = await serve()
      if (factor === 'app') kit.apps.enroll('alice@example.com')
      const login = { path: '/auth/login', fields: { name: 'alice' } }
      const tokens = await signInWithMfa(jsonAgent(made.app), { kit, login, factor, tokens: true })
      const access = String(tokens.access)
      kit.clock.advance('6m')
      const asked = await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
      const agent = jsonAgent(made.app).set('Authorization', `Bearer ${access}`) as TestAgent
      const again = await signInWithMfa(agent, { kit, factor, tokens: { login: asked.body.login } })
      await tokenClient(made.app, { access: String(again.access) })
        .post('/api/transfer')
        .expect(200)
    }))
})
