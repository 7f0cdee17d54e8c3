import type { SessionOptions } from 'express-session'
import { describe, expect, it } from 'vitest'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { host, pendingCookie, verifiedCookie, withCookie } from '../kit/host.js'

/** A host that also keeps its signed-in user in the session under a key of its own, as AdminJS does. */
function hostWithOwnKey(session: Partial<SessionOptions> = {}) {
  const store = new FaultyStore()
  const made = host({
    store,
    session,
    options: { login: { pendingPaths: ['/own-key'] } },
    routes: (app) => {
      app.post('/own-key', (req, res) => {
        Reflect.set(req.session, 'adminUser', 'bob')
        res.json({})
      })
      app.get('/admin', (req, res) => {
        if (!Reflect.get(req.session, 'adminUser')) return void res.status(401).json({})
        res.json({ secret: 42 })
      })
      app.get('/picture', (req, res, next) => {
        Reflect.set(req.session, 'pictures', 1)
        req.session.save((error: unknown) => (error ? next(error) : res.json({ user: req.user ?? null })))
      })
    },
  })
  return { ...made, store }
}

/** The headers that browsers send with an image, older ones without `Sec-Fetch-Dest`. */
const IMAGES = [
  { Accept: 'image/png' },
  { Accept: 'image/*', 'Sec-Fetch-Dest': 'image' },
  { 'Sec-Fetch-Dest': 'script' },
]
const SETTINGS: readonly Partial<SessionOptions>[] = [
  {},
  { saveUninitialized: true, resave: true, rolling: true, cookie: { maxAge: 60_000 } },
  { unset: 'destroy' },
]
const cases = IMAGES.flatMap((headers) => SETTINGS.map((session) => ({ headers, session })))

describe('a part of a page, requested by a pending login (R01)', () => {
  it('finds no user in the session, whatever key the app keeps one under', () =>
    everyCase(cases, async ({ headers, session }) => {
      const made = hostWithOwnKey(session)
      const cookie = await pendingCookie(made, 'bob')
      await withCookie(made.app, cookie).post('/own-key').expect(200)
      await withCookie(made.app, cookie).get('/admin').set(headers).expect(401)
    }))

  it('is answered, and neither stores a session nor sets its cookie', () =>
    everyCase(cases, async ({ headers, session }) => {
      const made = hostWithOwnKey(session)
      const cookie = await pendingCookie(made, 'bob')
      const before = { ...made.store.stored }
      const answer = await withCookie(made.app, cookie)
        .get('/picture')
        .set(headers)
        .expect(200, { user: null })
      expect(sessionCookie(answer)).toBe('')
      expect(made.store.stored).toEqual(before)
      await withCookie(made.app, cookie).get('/mfa').expect(200)
    }))

  it('has the session of a user who has shown the second factor', () =>
    everyCase(cases, async ({ headers, session }) => {
      const made = hostWithOwnKey(session)
      const cookie = await verifiedCookie(made, 'bob')
      await withCookie(made.app, cookie).post('/own-key').expect(200)
      await withCookie(made.app, cookie).get('/admin').set(headers).expect(200)
      await withCookie(made.app, cookie).get('/picture').set(headers).expect(200)
      expect(JSON.parse(made.store.stored[sessionId(cookie)] ?? '')).toMatchObject({ pictures: 1 })
    }))
})
