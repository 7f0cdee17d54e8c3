import type { SessionOptions } from 'express-session'
import { describe, expect, it } from 'vitest'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, host, jsonAgent, pendingCookie, withCookie } from '../kit/host.js'
import { challenge } from '../kit/sign-in.js'

const SETTINGS: readonly Partial<SessionOptions>[] = [
  {},
  { rolling: true, cookie: { maxAge: 60_000 } },
  { cookie: { maxAge: 60_000 } },
  { saveUninitialized: true },
  { saveUninitialized: true, resave: true, rolling: true, cookie: { maxAge: 60_000 } },
]

/** How the posts overlap: one after the other, both at once, or the second one while the first one is checked. */
const TIMINGS = ['after', 'at once', 'while the first is checked', 'while the first is saved'] as const

const cases = SETTINGS.flatMap((session) => TIMINGS.map((timing) => ({ session, timing })))

/** Posts a right code twice from one browser without scripts, and returns the answers in the order of the posts. */
async function postTwice(session: Partial<SessionOptions>, timing: (typeof TIMINGS)[number]) {
  const store = new FaultyStore()
  const made = host({ store, session })
  const cookie = await pendingCookie(made, 'bob')
  await challenge(withCookie(made.app, cookie), 'sms').expect(200)
  const code = made.standIn.newestCode()
  const post = () =>
    browserAgent(made.app)
      .post('/mfa/verify')
      .set('Cookie', cookie)
      .type('form')
      .send({ code })
      .then((answer) => answer)
  if (timing === 'after') return { made, store, answers: [await post(), await post()] }
  if (timing === 'while the first is saved') store.writeMs = 30
  if (timing !== 'while the first is checked') return { made, store, answers: await Promise.all([post(), post()]) }
  const held = made.standIn.hold()
  const first = post()
  await held.arrived
  const second = post()
  held.release()
  return { made, store, answers: await Promise.all([first, second]) }
}

describe('a right code that a browser without scripts posts twice (R21)', () => {
  it('signs in with one of the posts, and the other one sets no session cookie', () =>
    everyCase(cases, async ({ session, timing }) => {
      const { made, store, answers } = await postTwice(session, timing)
      const cookies = answers.map((answer) => sessionCookie(answer)).filter((cookie) => cookie !== '')
      expect(cookies).toHaveLength(1)
      const [cookie = ''] = cookies
      await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(200)
      expect(Object.keys(store.stored)).toEqual([sessionId(cookie)])
    }))
})
