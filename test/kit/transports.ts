import express, { type RequestHandler } from 'express'
import type { Test as Request } from 'supertest'
import type TestAgent from 'supertest/lib/agent.js'
import { afterAll, describe, it } from 'vitest'
import { createMfa } from '../../src/index.js'
import type { HostSetup, TestUser } from './host.js'
import { payloadOf, signToken } from './signed-tokens.js'

/** How clients of the kit prove what they have shown. A suite says nothing about it, and so runs over each. */
interface Transport {
  /** The setup of the host app for it. */
  hostWith(setup: HostSetup, users: Record<string, TestUser>): HostSetup
  /** Has a client keep what answers give it. */
  equip(agent: TestAgent): TestAgent
}

const SESSION: Transport = { hostWith: (setup) => setup, equip: (agent) => agent }

const bearerOf = (authorization = '') => payloadOf(/^Bearer (.+)$/.exec(authorization)?.[1] ?? '')

/** Asks the login route for tokens. */
const WANTS_TOKENS = 'Test-Wants-Tokens'

/** The members that the client reads of an answer. */
interface Answer {
  readonly body: Record<string, string | undefined> | null
  readonly req: { readonly path: string }
}

/** A reference, and then an access token. The app has both transports, and pages use the session. */
const TOKENS: Transport = {
  hostWith(setup, users) {
    const findUser = (id: unknown) => Object.values(users).find((user) => user.id === id)
    return {
      ...setup,
      options: {
        tokens: {
          findUser,
          issue: (_user, claims) => ({ status: 'verified', next: '/', access: signToken(claims) }),
          claims: (req) => bearerOf(req.get('authorization')),
          store: 'memory',
        },
        ...setup.options,
      },
      first(app, mfa) {
        app.use('/login', (req, _res, next) => {
          if (req.get(WANTS_TOKENS)) {
            delete req.headers.authorization
            delete req.headers['mfa-login']
          }
          next()
        })
        setup.first?.(app, mfa)
      },
      behindGate(app, auth, mfa) {
        app.use((req, _res, next) => {
          const payload = bearerOf(req.get('authorization'))
          if (payload) Object.assign(req, { user: findUser(payload.sub) })
          next()
        })
        const forTokens: RequestHandler = (req, res, next) => {
          if (!req.get(WANTS_TOKENS)) return next('route')
          // As the kit's login route answers a client with a session.
          const end = res.end.bind(res)
          res.end = ((text: string) => {
            const { login, expiresAt, access, ...body } = JSON.parse(text)
            if (login === undefined && access === undefined) return end(text)
            res.statusCode = 200
            res.removeHeader('Content-Length')
            const user = access === undefined ? null : req.user
            return end(JSON.stringify({ ...body, login, access, mfa: req.mfa, user }))
          }) as typeof end
          next()
        }
        const byName = auth.authenticate('name', { session: false })
        app.post('/login', forTokens, express.json(), byName, createMfa(mfa).tokens.begin)
        setup.behindGate?.(app, auth, mfa)
      },
    }
  },
  equip(agent) {
    let [reference, access, device]: (string | undefined)[] = []
    return agent.set(WANTS_TOKENS, 'yes').use((sent: Request) => {
      if (reference !== undefined) sent.set('MFA-Login', reference)
      if (access !== undefined) sent.set('Authorization', `Bearer ${access}`)
      if (device !== undefined) sent.set('MFA-Device', device)
      sent.on('response', ({ body, req: { path } }: Answer) => {
        if (path === '/login') [reference, access] = [undefined, undefined]
        if (!body) return
        device = body.device ?? device
        if (body.login !== undefined) reference = body.login
        if (body.access !== undefined) [reference, access] = [undefined, body.access]
        // The suites read what is left.
        if (body.login !== undefined) delete body.expiresAt
        for (const kept of ['device', 'login', 'access']) delete body[kept]
      })
    })
  },
}

let current = SESSION

/** The transport of the suite that runs. */
export const currentTransport = (): Transport => current

/** Imports suites whose clients have references and tokens. Their groups are collected later, so it holds until the end of the file. */
export async function withTokens(importSuites: () => Promise<unknown>): Promise<void> {
  const useSession = () => {
    current = SESSION
  }
  afterAll(useSession)
  current = TOKENS
  await importSuites().catch((error: unknown) => {
    useSession()
    throw error
  })
}

const isForSession = () => current === SESSION

/** Declares nothing where the clients have tokens. */
const forSessions = <Declare extends typeof it | typeof describe>(declare: Declare): Declare =>
  new Proxy(declare, {
    apply: (target, self, args) =>
      isForSession() && Reflect.apply(target as unknown as () => void, self, args),
    get: (target, name) => (name !== 'each' || isForSession() ? Reflect.get(target, name) : () => () => {}),
  })

/** Says something of sessions, of their cookies or of pages only. */
export const itWithSession = forSessions(it)

/** A group about sessions, their cookies or pages only. */
export const describeWithSession = forSessions(describe)
