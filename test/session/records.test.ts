import type { SessionData } from 'express-session'
import { describe, expect, it } from 'vitest'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { sessionCookie, sessionId } from '../kit/cookies.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  browserAgent,
  host,
  jsonAgent,
  signIn,
  signInFully,
  verifiedCookie,
  withCookie,
} from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

function testbed(setup: Parameters<typeof host>[0] = {}) {
  const store = new FaultyStore()
  return { ...host({ store, ...setup }), store }
}

/** Changes one stored session, as another program or a bug of the host could. */
function tamper(store: FaultyStore, id: string, change: (data: Record<string, unknown>) => void) {
  const data = JSON.parse(store.stored[id] ?? '{}')
  change(data)
  return new Promise<void>((resolve) => store.set(id, data as SessionData, () => resolve()))
}

async function pendingBob() {
  const made = testbed()
  const cookie = sessionCookie(await login(jsonAgent(made.app), 'bob'))
  return { made, cookie }
}

describe('a session record (R04)', () => {
  it.each([true, false])(
    'does not count when another user signs in in the same session (keepSessionInfo: %s)',
    async (keep) => {
      const made = testbed({ login: { keepSessionInfo: keep } })
      const browser = await signInFully(made, 'alice')
      await browser.get('/secret').expect(200)
      const { body } = await login(browser, 'bob').expect(200)
      expect(body.user).toBeNull()
      await browser.get('/secret').expect(401)
      const [record] = made.store.records
      expect(record).toMatchObject({ stage: 'pending', userId: 'u-bob' })
      expect(record).not.toHaveProperty('challenge')
    },
  )

  it('does not count when a login route before the gate keeps the session of another user', async () => {
    const made = testbed({
      // With links that end sessions.
      options: {
        urls: { publicUrl: 'https://shop.example' },
        notices: { store: 'memory', onNotice: () => {} },
      },
      beforeGate: (app, auth) => {
        app.post('/early', (req, res, next) => {
          req.body = { name: req.query.name }
          auth.authenticate('name', { keepSessionInfo: true })(req, res, next)
        })
        app.post('/early', (_req, res) => void res.json({}))
      },
    })
    const browser = await signInFully(made, 'alice')
    await browser.post('/early?name=bob').expect(200)
    await browser.get('/secret').expect(401)
    await browser.post('/early?name=alice').expect(200)
    await browser.get('/secret').expect(401)
  })

  it('does not count when the session now belongs to another user, with an id of any length', () =>
    everyCase(['u-bob', 'u-carol', 'u-ali2', '2u-ali', 'u-alI', 'ali'], async (id) => {
      const made = testbed()
      made.users.other = {
        id,
        email: 'other@example.com',
        factors: [{ method: 'sms', phone: '+447700900109' }],
      }
      const verified = await verifiedCookie(made, 'alice')
      await withCookie(made.app, verified).get('/secret').expect(200)
      await tamper(made.store, sessionId(verified), (data) => {
        data.passport = { user: id }
      })
      await withCookie(made.app, verified).get('/secret').expect(401)
    }))

  it('does not count when it was copied from another session of the same user', async () => {
    const made = testbed()
    const done = await signInFully(made, 'bob')
    await done.get('/secret').expect(200)
    const stolen = made.store.documents.find((document) => 'mfa' in document)
    const cookie = sessionCookie(await login(jsonAgent(made.app), 'bob'))
    await tamper(made.store, sessionId(cookie), (data) => {
      data.mfa = Reflect.get(stolen ?? {}, 'mfa')
    })
    const answer = await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(401)
    expect(answer.body.code).toBe('mfa_required')
  })

  it('is one short text with the name of its product, once nothing is under way', async () => {
    const made = testbed()
    const cookie = await verifiedCookie(made, 'bob')
    const { mfa } = JSON.parse(made.store.stored[sessionId(cookie)] ?? '')
    expect(mfa).toMatch(/^@\/mfa 2v \S+ \S+ \S+ \S+ \S+ \S+ u-bob$/)
  })

  it('does not count in another app with the same service and users', async () => {
    const first = testbed()
    const second = testbed({ standIn: first.standIn, users: first.users })
    const inFirst = await verifiedCookie(first, 'bob')
    const foreign = await withCookie(second.app, inFirst).get('/secret').expect(401)
    expect(foreign.body.code).toBe('closed')
    const inSecond = sessionCookie(await login(withCookie(second.app, inFirst), 'bob').expect(200))
    const pending = await withCookie(second.app, inSecond).get('/secret').expect(401)
    expect(pending.body.code).toBe('mfa_required')
    await withCookie(first.app, inFirst).get('/secret').expect(200)
    await challenge(withCookie(second.app, inSecond), 'sms').expect(200)
    await verify(withCookie(second.app, inSecond), second.standIn.newestCode()).expect(200)
  })

  it('does not count when the stored value does not fit', () =>
    everyCase(
      [
        ['no record', null],
        ['a string', 'verified'],
        ['a name without a record', '@/mfa'],
        ['an array', [{ stage: 'verified' }]],
        ['an object of another shape', { stage: 'verified', verifiedAt: 1, amr: ['mfa'] }],
        ['prototype keys', JSON.parse('{"__proto__":{"record":"2v"}}')],
      ],
      async ([_title, planted]) => {
        const { made, cookie } = await pendingBob()
        await tamper(made.store, sessionId(cookie), (data) => {
          data.mfa = planted
        })
        const answer = await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(401)
        expect(answer.body.code).toBe('mfa_required')
      },
    ))

  it('does not count when the stored text does not fit', () =>
    everyCase(
      [
        ['the fields of another stage', '2v $transaction $time $owner'],
        ['another version', '3v $transaction $time $time psm s $owner'],
        ['an unknown stage', '2x $transaction $time $owner'],
        ['an unknown method', '2v $transaction $time $time psm z $owner'],
        ['an unknown value of amr', '2v $transaction $time $time pxm s $owner'],
        ['an invalid time', '2v $transaction $time TIME psm s $owner'],
        ['no time', '2v $transaction $time  psm s $owner'],
        ['an invalid transaction', '2v a.b $time $time psm s $owner'],
        ['an extra field', '2v $transaction $time $time psm s x $owner'],
        ['an invalid exemption', '2e $transaction $time x $owner'],
        ['another user', '2v $transaction $time $time psm s $session u-ali'],
        ['another session', `2v $transaction $time $time psm s ${'x'.repeat(32)} u-bob`],
        ['a user id with the same ending', '2v $transaction $time $time psm s $session xu-bob'],
      ],
      async ([_title, text]) => {
        const { made, cookie } = await pendingBob()
        const id = sessionId(cookie)
        const planted = text
          .replaceAll('$transaction', 'abcdefghijklmnop')
          .replaceAll('$time', Date.now().toString(36))
          .replace('$owner', `${id} u-bob`)
          .replace('$session', id)
        await tamper(made.store, id, (data) => {
          data.mfa = planted
        })
        await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(401)
        await tamper(made.store, id, (data) => {
          data.mfa = { record: planted, returnTo: '/secret' }
        })
        await jsonAgent(made.app).get('/secret').set('Cookie', cookie).expect(401)
      },
    ))

  it('ends at a logout that keeps the session', async () => {
    const made = testbed({
      routes: (app) => {
        app.post('/logout-keeping', (req, res, next) => {
          req.logout({ keepSessionInfo: true }, (error) => (error ? next(error) : res.json({})))
        })
      },
    })
    const browser = await signInFully(made, 'bob')
    await browser.post('/logout-keeping').expect(200)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('closed')
    await login(browser, 'bob').expect(200)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('mfa_required')
  })
})

describe('a pending login (R05)', () => {
  it('ends after exactly ten minutes, and the user starts over', async () => {
    const clock = stopClock()
    const events: unknown[] = []
    const { app, standIn } = testbed({ options: { onEvent: (event) => void events.push(event) } })
    const browser = await signIn(app, 'bob')
    await challenge(browser, 'sms').expect(200)
    clock.move(10 * MINUTE - 1)
    expect((await browser.get('/mfa').expect(200)).body.status).toBe('pending')
    clock.move(1)
    const calls = standIn.calls.length
    const answer = await verify(browser, standIn.newestCode()).expect(401)
    expect(answer.body).toMatchObject({ code: 'pending_login_expired', next: '/login' })
    expect(standIn.calls).toHaveLength(calls)
    expect(events.at(-1)).toMatchObject({
      type: 'given_up',
      userId: 'u-bob',
      reason: 'expired',
      method: 'sms',
    })
    expect((await browser.get('/secret').expect(401)).body.code).toBe('closed')
  })

  it('ends when the clock is set back by more than clocks drift', async () => {
    const clock = stopClock()
    const { app } = testbed()
    const browser = await signIn(app, 'bob')
    clock.move(1 - MINUTE)
    await browser.get('/mfa').expect(200)
    clock.move(-1)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('closed')
    expect((await browser.get('/mfa').expect(200)).body.status).toBe('none')
  })

  it('passes its return address on to the next login when it expires', async () => {
    const clock = stopClock()
    const { app, standIn } = testbed()
    const browser = browserAgent(app)
    await login(browser, 'bob').type('form')
    await browser.get('/secret?page=7').expect(303)
    clock.move(10 * MINUTE)
    const over = await browser.get('/mfa').expect(401)
    expect(over.text).toContain('href="/login"')
    await login(browser, 'bob').type('form').expect(200)
    await challenge(browser, 'sms').type('form')
    await verify(browser, standIn.newestCode()).type('form').expect(303).expect('Location', '/secret?page=7')
  })

  it('is not extended by visits, requested codes or wrong codes', async () => {
    const clock = stopClock()
    const { app } = testbed()
    const browser = await signIn(app, 'bob')
    for (let minute = 0; minute < 9; minute++) {
      clock.move(MINUTE)
      await browser.get('/secret').expect(401)
      await challenge(browser, 'sms')
      await verify(browser, '000000')
    }
    clock.move(MINUTE)
    expect((await browser.get('/secret').expect(401)).body.code).toBe('closed')
  })

  it('lasts 15 minutes if the options say so', async () => {
    const clock = stopClock()
    const { app } = testbed({ options: { login: { pendingLifetime: 15 * MINUTE } } })
    const browser = await signIn(app, 'bob')
    clock.move(15 * MINUTE - 1)
    expect((await browser.get('/mfa')).body.status).toBe('pending')
    clock.move(1)
    expect((await browser.get('/mfa')).body.code).toBe('pending_login_expired')
  })
})

describe('a session with two challenges (R06)', () => {
  it('discards the result for a code when another challenge was started meanwhile', async () => {
    const { app, standIn } = testbed()
    const browser = await signIn(app, 'alice')
    await challenge(browser, 'sms').expect(200)
    const held = standIn.hold()
    const late = verify(browser, standIn.newestCode()).then((answer) => answer)
    await held.arrived
    await challenge(browser, 'email').expect(200)
    held.release()
    expect((await late).body.code).toBe('session_ended')
    await browser.get('/secret').expect(401)
    // The newer challenge is still valid.
    await verify(browser, standIn.newestCode()).expect(200)
    await browser.get('/secret').expect(200)
  })

  it('accepts no code of the older challenge', async () => {
    const { app, standIn } = testbed()
    const browser = await signIn(app, 'alice')
    await challenge(browser, 'sms').expect(200)
    const older = standIn.newestCode()
    await challenge(browser, 'email').expect(200)
    expect((await verify(browser, older).expect(401)).body.code).toBe('invalid_code')
    const named = await verify(browser, older, { factor: 'sms' }).expect(409)
    expect(named.body.code).toBe('no_challenge')
  })
})

describe('the stored session (R10)', () => {
  it('never contains a code, a secret, a contact or a key at any step', async () => {
    const made = testbed()
    const { app, standIn, store } = made
    const seen: string[] = []
    const look = () => seen.push(...Object.values(store.stored))
    const browser = await signIn(app, 'bob')
    look()
    await challenge(browser, 'sms').expect(200)
    look()
    await verify(browser, '999999').expect(401)
    look()
    await verify(browser, standIn.newestCode()).expect(200)
    look()
    await approveChange(browser, '/mfa/enroll-app', byStandIn({ standIn }, browser))
    const { secret } = (await browser.post('/mfa/enroll-app').expect(200)).body
    look()
    await browser.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    look()
    await browser.post('/mfa/backup').expect(200)
    look()
    const all = seen.join('\n')
    expect(seen.length).toBeGreaterThan(6)
    for (const hidden of [
      ...standIn.delivered.map(({ code }) => code),
      secret,
      '999999',
      '123456',
      'AAAABBBBCCCCDDDD',
      '+447700900102',
      'bob@example.com',
    ]) {
      expect(all).not.toContain(hidden)
    }
  })
})
