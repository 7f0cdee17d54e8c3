import express, { type Express as App } from 'express'
import request, { type Test } from 'supertest'
import { createMfa, type MfaOptions } from '../../src/index.js'
import { payloadOf, signToken } from '../tokens/kit.js'
import { type Host, type HostSetup, host, jsonAgent, type TestUser, testUsers } from './host.js'
import { login } from './sign-in.js'

/** A client that keeps what its transport gives it: cookies, or a reference and an access token. */
export interface TransportClient {
  get(path: string): Test
  post(path: string): Test
}

/** How a client proves what it has shown. A suite that runs over all of them says nothing about how. */
export interface Transport {
  readonly name: string
  host(setup?: HostSetup): Host
  /** Signs a user in with the first factor. */
  signIn(made: Host, name: string): Promise<TransportClient>
}

/** A client without cookies. It keeps what answers give it. */
function tokenAgent(app: App): TransportClient & { readonly access: () => string | undefined } {
  let [reference, access]: (string | undefined)[] = []
  const send = (test: Test) => {
    test.set('Accept', 'application/json')
    if (reference !== undefined) test.set('MFA-Login', reference)
    if (access !== undefined) test.set('Authorization', `Bearer ${access}`)
    test.on('response', ({ body }) => {
      if (body?.login !== undefined) reference = body.login
      if (body?.access !== undefined) [reference, access] = [undefined, body.access]
    })
    return test
  }
  return {
    get: (path) => send(request(app).get(path)),
    post: (path) => send(request(app).post(path)),
    access: () => access,
  }
}

const bearerOf = (authorization = '') => payloadOf(/^Bearer (.+)$/.exec(authorization)?.[1] ?? '')

/** Adds the login route of clients without cookies, in an app that has both transports. */
function withTokens(setup: HostSetup): HostSetup {
  const users = setup.users ?? testUsers()
  const tokens: MfaOptions<TestUser>['tokens'] = {
    findUser: (id) => Object.values(users).find((user) => user.id === id),
    issue: (_user, claims) => ({ access: signToken(claims) }),
    claims: (req) => bearerOf(req.get('authorization')),
    store: 'memory',
  }
  return {
    ...setup,
    users,
    options: { ...setup.options, tokens },
    routes(app, mfa, auth) {
      setup.routes?.(app, mfa, auth)
      app.post(
        '/auth/login',
        express.json(),
        auth.authenticate('name', { session: false }),
        createMfa(mfa).tokens.begin,
      )
    },
  }
}

export const TRANSPORTS: readonly Transport[] = [
  {
    name: 'a session',
    host,
    async signIn({ app }, name) {
      const agent = jsonAgent(app)
      await login(agent, name).expect(200)
      return agent
    },
  },
  {
    name: 'a reference and tokens',
    host: (setup = {}) => host(withTokens(setup)),
    async signIn({ app }, name) {
      const agent = tokenAgent(app)
      await agent.post('/auth/login').send({ name })
      return agent
    },
  },
]
