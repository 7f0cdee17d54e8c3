import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import { browserAgent, host, pendingCookie, verifiedCookie, withCookie } from '../kit/host.js'
import { signal } from '../kit/signal.js'
import { begin, listen } from '../kit/sockets.js'

/*
 * An attacker with a stolen cookie starts a request, withholds its body until the victim has signed out, and then
 * sends the rest. The app read the session when the request started.
 */

async function requestAcrossLogout(name: string, path: string, body: object, idleMs = 0) {
  const clock = stopClock()
  const store = new FaultyStore()
  const reached = signal()
  const { app, standIn } = host({
    store,
    behindGate: (app) => {
      app.use((req, _res, next) => {
        if (req.get('x-attacker')) reached.give()
        next()
      })
    },
  })
  const cookie = await (name === 'nina' ? pendingCookie : verifiedCookie)({ app, standIn }, name)
  clock.move(idleMs)

  const text = JSON.stringify(body)
  const attack = begin(await listen(app), {
    path,
    headers: {
      Cookie: cookie,
      'X-Attacker': 'yes',
      'Content-Type': 'application/json',
      'Content-Length': String(text.length),
    },
  })
  attack.write(text.slice(0, 1))
  await reached.given
  await withCookie(app, cookie).post('/logout').expect(200)
  const answer = await attack.finish(text.slice(1))
  const after = await withCookie(app, cookie).get('/secret')
  return { answer, after, stored: store.stored, id: sessionId(cookie) }
}

describe('a request whose body arrives after the logout (R07)', () => {
  it.each(['bob', 'nina'])('neither sets up an app nor restores the session (%s)', async (name) => {
    const { answer, after, stored, id } = await requestAcrossLogout(name, '/mfa/enroll-app', { a: 'some' })
    expect(answer.status).toBe(401)
    expect(answer.body).not.toHaveProperty('secret')
    expect(stored).not.toHaveProperty([id])
    expect(after.status).toBe(401)
  })

  it('does not restore the session', () =>
    everyCase(
      [
        ['/mfa/challenge', { factor: 'sms' }],
        ['/mfa/verify', { code: '000000', factor: 'sms' }],
        ['/mfa/verify', { code: 7 }],
        ['/mfa/backup', { a: 'some' }],
        ['/mfa/enroll-app/confirm', { code: '123456' }],
      ],
      async ([path, body]) => {
        const { answer, after, stored, id } = await requestAcrossLogout('bob', path, body)
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(stored).not.toHaveProperty([id])
        expect(after.status).toBe(401)
      },
    ))

  it('does not restore a session whose factor is too old', () =>
    everyCase(['/mfa/enroll-app', '/mfa/backup'], async (path) => {
      const { answer, after, stored, id } = await requestAcrossLogout('bob', path, { a: 'some' }, 6 * MINUTE)
      expect(answer.body.code).toBe('session_ended')
      expect(stored).not.toHaveProperty([id])
      expect(after.status).toBe(401)
    }))
})

describe('a request that waits while the host lists the factors (R07)', () => {
  function slowHost() {
    const store = new FaultyStore()
    const asked = signal()
    const listed = signal()
    const slow = { on: false }
    const made = host({
      store,
      options: {
        factors: async (user) => {
          if (slow.on) {
            slow.on = false
            asked.give()
            await listed.given
          }
          return user.factors
        },
      },
    })
    return { ...made, store, asked: asked.given, answer: listed.give, slow }
  }

  it('does not restore the session when it asks for a step-up', async () => {
    const clock = stopClock()
    const { app, standIn, store, asked, answer, slow } = slowHost()
    const cookie = await verifiedCookie({ app, standIn }, 'bob')
    clock.move(6 * MINUTE)

    slow.on = true
    const late = withCookie(app, cookie)
      .post('/transfer')
      .then((response) => response)
    await asked
    await withCookie(app, cookie).post('/logout').expect(200)
    answer()
    expect((await late).body.code).toBe('session_ended')
    expect(store.stored).not.toHaveProperty([sessionId(cookie)])
    await withCookie(app, cookie).get('/secret').expect(401)
  })

  it('does not restore a pending login when it shows the MFA pages', async () => {
    const { app, store, asked, answer, slow } = slowHost()
    const cookie = await pendingCookie({ app }, 'bob')
    slow.on = true
    const late = browserAgent(app)
      .get('/mfa')
      .set('Cookie', cookie)
      .then((response) => response)
    await asked
    await withCookie(app, cookie).post('/logout').expect(200)
    answer()
    await late
    expect(store.stored).not.toHaveProperty([sessionId(cookie)])
  })
})
