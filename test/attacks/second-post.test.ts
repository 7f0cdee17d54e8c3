import express from 'express'
import type { SessionOptions } from 'express-session'
import { describe, expect, it } from 'vitest'
import { mfaTestKit } from '../../src/testing/index.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, host, jsonAgent, pendingCookie, withCookie } from '../kit/host.js'
import { challenge } from '../kit/sign-in.js'
import { heldWork } from '../kit/signal.js'

const SETTINGS: readonly Partial<SessionOptions>[] = [
  {},
  { rolling: true, cookie: { maxAge: 60_000 } },
  { cookie: { maxAge: 60_000 } },
  { saveUninitialized: true },
  { saveUninitialized: true, resave: true, rolling: true, cookie: { maxAge: 60_000 } },
]

/** How the posts overlap: one after the other, both at once, or the second one while the first one is checked. */
const TIMINGS = ['after', 'at once', 'while the first is checked', 'while the first is saved'] as const

const FACTORS = ['sms', 'app'] as const

/** Our route, and a route of the host with the strategy, which notes failures in the session. */
const PATHS = ['/mfa/verify', '/mfa-login'] as const

const cases = SETTINGS.flatMap((session) =>
  TIMINGS.flatMap((timing) =>
    PATHS.flatMap((path) => FACTORS.map((factor) => ({ session, timing, path, factor }))),
  ),
)

/** Posts a right code twice from one browser without scripts, and returns the answers in the order of the posts. */
async function postTwice({ session, timing, path, factor }: (typeof cases)[number]) {
  const store = new FaultyStore()
  const kit = mfaTestKit()
  kit.apps.enroll('alice@example.com')
  const held = heldWork()
  const { verify } = kit.service
  const made = host({
    options: {
      service: {
        ...kit.service,
        async verify(request) {
          const answer = await verify(request)
          if (timing === 'while the first is checked') await held.work()
          return answer
        },
      },
    },
    store,
    session,
    routes: (app, _mfa, auth) => {
      const failure = { failureRedirect: '/login', failureMessage: true }
      app.post('/mfa-login', express.urlencoded(), auth.authenticate('mfa', failure), (_req, res) => {
        res.redirect(303, '/')
      })
    },
  })
  const cookie = await pendingCookie(made, 'alice')
  await challenge(withCookie(made.app, cookie), factor).expect(200)
  const code = factor === 'app' ? kit.apps.code('alice@example.com') : kit.inbox.newest('+447700900101').code
  const post = () =>
    browserAgent(made.app)
      .post(path)
      .set('Cookie', cookie)
      .type('form')
      .send({ code, factor })
      .then((answer) => answer)
  if (timing === 'after') return { made, store, answers: [await post(), await post()] }
  if (timing === 'while the first is saved') store.writeMs = 30
  if (timing !== 'while the first is checked')
    return { made, store, answers: await Promise.all([post(), post()]) }
  const first = post()
  await held.arrived
  const second = post()
  held.release()
  return { made, store, answers: await Promise.all([first, second]) }
}

describe('a right code that a browser without scripts posts twice (R21)', () => {
  it('signs in with one of the posts, and the other one sets no session cookie', () =>
    everyCase(cases, async (one) => {
      const { made, store, answers } = await postTwice(one)
      const cookies = answers.map((answer) => sessionCookie(answer)).filter((cookie) => cookie !== '')
      expect(cookies).toHaveLength(1)
      const [cookie = ''] = cookies
      await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(200)
      expect(Object.keys(store.stored)).toEqual([sessionId(cookie)])
    }))
})
