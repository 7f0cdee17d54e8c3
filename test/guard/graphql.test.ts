import express from 'express'
import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { host, signInFully } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

/** An app with a public query and one of the signed-in user, at one path, and the public query alone at another. */
function graphqlHost() {
  const PUBLIC = { news: () => 'open today' }
  const OWN = { ...PUBLIC, balance: (req: express.Request) => (req.user ? 42 : null) }
  const answer =
    (resolvers: Readonly<Record<string, (req: express.Request) => unknown>>): express.RequestHandler =>
    (req, res) => {
      const resolve = resolvers[/\w+/.exec(String(req.body.query))?.[0] ?? '']
      res.json(resolve ? { data: resolve(req) } : { errors: [{ message: 'no such field' }] })
    }
  return host({
    options: { login: { pendingPaths: ['/graphql-public'] } },
    routes: (app) => {
      app.post('/graphql', express.json(), answer(OWN))
      app.post('/graphql-public', express.json(), answer(PUBLIC))
    },
  })
}

describe('GraphQL behind the gate', () => {
  it('answers public queries of a pending login at their own path, and nothing else (R01)', async () => {
    const { app } = graphqlHost()
    const agent = request.agent(app)
    const ask = (path: string, query: string) => agent.post(path).accept('json').send({ query })
    expect((await ask('/graphql', '{ news }').expect(200)).body).toEqual({ data: 'open today' })
    await login(agent, 'bob').expect(200)
    for (const query of ['{ news }', '{ balance }']) {
      const { body } = await ask('/graphql', query).expect(401)
      expect(body.code).toBe('mfa_required')
    }
    expect((await ask('/graphql-public', '{ news }').expect(200)).body).toEqual({ data: 'open today' })
    expect((await ask('/graphql-public', '{ balance }').expect(200)).body).toHaveProperty('errors')
  })

  it('answers all queries of a user who has shown the second factor', async () => {
    const made = graphqlHost()
    const agent = await signInFully(made, 'bob')
    const { body } = await agent.post('/graphql').accept('json').send({ query: '{ balance }' }).expect(200)
    expect(body).toEqual({ data: 42 })
  })
})
