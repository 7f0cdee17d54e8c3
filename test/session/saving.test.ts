import express from 'express'
import type { SessionData } from 'express-session'
import { describe, expect, it } from 'vitest'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { host, jsonAgent, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** A store that counts how often it was asked to store a session. */
class CountingStore extends FaultyStore {
  sets = 0
  override set(sid: string, session: SessionData, done?: (error?: unknown) => void): void {
    this.sets++
    super.set(sid, session, done)
  }
}

/** A host whose route signs in the user in the body and calls `afterwards` before it responds. */
function testbed(afterwards: (session: Express.Request & { session: SessionData }) => void = () => {}) {
  const store = new CountingStore()
  const made = host({
    store,
    routes: (app, _mfa, auth) => {
      app.post('/own-login', express.json(), (req, res, next) => {
        auth.authenticate('name', (failed: unknown, user: TestUser) => {
          if (failed) return next(failed)
          req.logIn(user as object as Express.User, (error) => {
            if (error) return next(error)
            afterwards(req)
            res.json({ status: req.mfa?.status })
          })
        })(req, res, next)
      })
    },
  })
  return { ...made, store }
}

describe('a session that a request has saved', () => {
  it('is not saved again at the end of the response', async () => {
    const { app, standIn, store } = testbed()
    const agent = jsonAgent(app)
    const setsOf = async (work: () => PromiseLike<unknown>) => {
      const before = store.sets
      await work()
      return store.sets - before
    }
    expect(await setsOf(() => login(agent, 'bob').expect(200))).toBe(1)
    expect(await setsOf(() => challenge(agent, 'sms').expect(200))).toBe(1)
    expect(await setsOf(() => verify(agent, standIn.newestCode()).expect(200))).toBe(1)
    await agent.get('/secret').expect(200)
  })

  it('is saved again with what the host writes into it after the sign-in', async () => {
    const { app, store } = testbed((req) => Reflect.set(req.session, 'cart', ['a book']))
    const answer = await jsonAgent(app)
      .post('/own-login')
      .send({ name: 'bob' })
      .expect(200, { status: 'pending' })
    expect(JSON.parse(store.stored[sessionId(sessionCookie(answer))] ?? '')).toMatchObject({
      cart: ['a book'],
    })
  })

  it('is saved again with a lifetime that the host gives its cookie after the sign-in', async () => {
    const { app, store } = testbed(({ session }) => {
      session.cookie.maxAge = 60_000
    })
    const answer = await jsonAgent(app)
      .post('/own-login')
      .send({ name: 'bob' })
      .expect(200, { status: 'pending' })
    const { cookie } = JSON.parse(store.stored[sessionId(sessionCookie(answer))] ?? '')
    expect(cookie.originalMaxAge).toBeGreaterThan(59_000)
  })

  it('is not brought back after another request ended it before the response (R07)', async () => {
    const { app, store } = testbed(() => {
      for (const id of Object.keys(store.stored)) delete store.stored[id]
    })
    await jsonAgent(app).post('/own-login').send({ name: 'bob' }).expect(200, { status: 'pending' })
    expect(store.stored).toEqual({})
  })
})
