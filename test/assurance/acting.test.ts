import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa } from '../../src/index.js'
import { HOUR, MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { FaultyStore } from '../kit/faulty-store.js'
import {
  addActingRoutes,
  type Host,
  type HostSetup,
  host,
  jsonAgent,
  mfaPaths,
  signInFully,
  type TestUser,
} from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { COUNTED, claims, ISSUER } from './kit.js'

afterEach(() => {
  vi.useRealTimers()
})

type Agent = ReturnType<typeof jsonAgent>

/** A host whose staff can act for bob. */
function actingHost(setup: HostSetup = {}, rule?: { minStrength: 'strong' }) {
  const events: { type: string }[] = []
  const notices: unknown[] = []
  const made = host({
    ...setup,
    options: {
      notices: { onNotice: (_user, notice) => void notices.push(notice) },
      trustedDevices: { store: 'memory' },
      urls: { publicUrl: 'https://shop.example' },
      ...setup.options,
      onEvent: (event) => void events.push(event),
    },
    beforeGate: setup.beforeGate ?? ((app, auth) => void app.use(auth.initialize())),
    routes: (app, options, auth) => {
      const mfa = createMfa(options)
      app.post('/stop', async (req, _res, next) => {
        const secured = made.users[String(req.query.secure)]
        if (secured) await mfa.account.secure(secured)
        next()
      })
      addActingRoutes(app, mfa, (name) => made.users[name], rule)
      app.post('/account/:change', async (req, res) => {
        if (req.query.forgotten) delete req.mfa
        const user = req.user as object as TestUser
        const factor = { method: 'sms', phone: '+447700900102' } as const
        if (req.params.change === 'renewSession') await mfa.account.renewSession(req, user)
        else await mfa.account[req.params.change as 'factorAdded'](req, user, factor)
        res.json({})
      })
      app.post('/note/:text', (req, res) => {
        Reflect.set(req.session, 'note', req.params.text)
        res.json({})
      })
      app.get('/note', (req, res) => void res.json({ note: Reflect.get(req.session, 'note') ?? null }))
      app.post('/strategy', (req, res, next) => auth.authenticate('mfa')(req, res, next))
      app.get('/gated', mfa.requireStrongest(), (_req, res) => void res.json({}))
      app.post('/bound', mfa.requireMfa({ bind: ['amount'] }), (_req, res) => void res.json({}))
    },
  })
  return {
    ...made,
    events,
    notices,
    /** A member of staff who has shown this factor, or the strongest one that they have. */
    staff: (name = 'alice', factor?: string) => signInFully(made, name, factor),
    /** Staff who acts for bob. */
    async acting(): Promise<Agent> {
      const agent = await signInFully(made, 'alice')
      await agent.post('/act/bob').expect(200)
      return agent
    },
  }
}

const whoIs = async (agent: Agent) => (await agent.get('/secret')).body.mfa

describe('a member of staff who acts for a user (R117)', () => {
  it('has a session of the user under another id, which names both, and returns to their own', async () => {
    const made = actingHost()
    const agent = await made.staff()
    const before = await whoIs(agent)
    const { body, headers } = await agent.post('/act/bob').expect(200)
    expect(headers['set-cookie']).toBeDefined()
    expect(body).toMatchObject({
      user: { id: 'u-bob' },
      mfa: { status: 'none', amr: [], actor: { sub: 'u-ali' }, verifiedAt: null },
    })
    expect(await whoIs(agent)).toMatchObject({ actor: { sub: 'u-ali' } })
    const back = await agent.post('/stop').expect(200)
    expect(back.body.user).toMatchObject({ id: 'u-ali' })
    expect(await whoIs(agent)).toEqual(before)
    expect(made.events.slice(-2)).toMatchObject([
      { type: 'acting_started', userId: 'u-bob', actor: 'u-ali', reason: 'ticket 7' },
      { type: 'acting_stopped', userId: 'u-bob', actor: 'u-ali', reason: 'ticket 7' },
    ])
    expect(made.notices).toEqual([])
  })

  it('takes nothing along that the app keeps in the session, in neither direction', async () => {
    const made = actingHost()
    const agent = await made.staff()
    const note = async () => (await agent.get('/note').expect(200)).body.note
    await agent.post('/note/staff').expect(200)
    expect(await note()).toBe('staff')
    await agent.post('/act/bob').expect(200)
    expect(await note()).toBeNull()
    await agent.post('/note/customer').expect(200)
    await agent.post('/stop').expect(200)
    expect(await note()).toBeNull()
  })

  it('returns to their grace period and evidence, which the session of the user does not have', async () => {
    const graceUntil = new Date(Date.now() + HOUR)
    const made = actingHost({
      options: {
        login: { evidence: () => claims({ amr: ['face'] }), issuers: { [ISSUER]: COUNTED } },
        policy: ({ user }) =>
          user.id === 'u-ali' ? { require: 'phishing-resistant', graceUntil } : 'optional',
      },
    })
    const agent = await made.staff()
    const before = await whoIs(agent)
    expect(before).toMatchObject({ graceUntil: graceUntil.getTime(), banner: expect.any(String) })
    expect(before.amr).toContain('face')
    expect((await agent.post('/act/bob').expect(200)).body.mfa).toMatchObject({
      graceUntil: null,
      banner: null,
    })
    await agent.post('/stop').expect(200)
    expect(await whoIs(agent)).toEqual(before)
  })

  it('must have shown the strongest factor that they have, in the last five minutes', async () => {
    const clock = stopClock()
    const made = actingHost()
    const weak = await made.staff('alice', 'sms')
    expect((await weak.post('/act/bob')).body).toEqual({ failed: 'ERR_MFA_ACTING' })
    const agent = await made.staff()
    clock.move(5 * MINUTE)
    expect((await agent.post('/act/bob')).body).toEqual({ failed: 'ERR_MFA_ACTING' })
    expect(await whoIs(agent)).toMatchObject({ actor: null, status: 'verified' })
  })

  it('must have shown what the app requires instead, if it says so', async () => {
    const made = actingHost({}, { minStrength: 'strong' })
    expect((await (await made.staff('bob', 'sms')).post('/act/nina')).body.failed).toBe('ERR_MFA_ACTING')
    await (await made.staff('otto')).post('/act/bob').expect(200)
  })

  it('gives a reason, is not the user, is signed in, and has a factor', async () => {
    const made = actingHost()
    const agent = await made.staff()
    expect((await agent.post('/act/bob?reason=')).body.failed).toBe('TypeError')
    expect((await agent.post('/act/alice')).body.failed).toBe('ERR_MFA_ACTING')
    expect((await agent.post('/stop')).body.failed).toBe('ERR_MFA_ACTING')
    const nobody = jsonAgent(made.app)
    expect((await nobody.post('/act/bob')).body.failed).toBe('ERR_MFA_SESSION_ENDED')
    const pending = jsonAgent(made.app)
    await login(pending, 'alice').expect(200)
    await pending.post('/act/bob').expect(401)
    const without = jsonAgent(made.app)
    await login(without, 'nina').expect(200)
    expect((await without.post('/act/bob')).body.failed).toBe('ERR_MFA_ACTING')
  })

  it('stays who they are where Passport could not bring them back later, and the error says what to mount', async () => {
    const made = actingHost({ beforeGate: () => {} })
    const agent = await made.staff()
    expect((await agent.post('/act/bob').expect(500)).body.failed).toBe('ERR_MFA_ACTING')
    expect(made.failures).toMatchObject([{ message: expect.stringContaining('Mount passport.initialize()') }])
    expect(await whoIs(agent)).toMatchObject({ actor: null, status: 'verified' })
  })
})

describe('a session that acts for a user (R118)', () => {
  it('is refused by every route of ours, whatever the method', async () => {
    const made = actingHost()
    const agent = await made.acting()
    const paths = mfaPaths(made.mfa)
    // These take a token instead of a session, and one ends the acting.
    const own = paths.filter((path) => !/not-me|cancel-recovery|assets|^\/cancel$/.test(path))
    expect(own.length).toBeGreaterThan(12)
    for (const path of own) {
      const found: unknown[] = []
      for (const method of ['get', 'post', 'delete'] as const) {
        const url = `/mfa${path}`.replace(':device', 'x').replace(/\/$/, '')
        const { status, body } = await agent[method](url)
        if (status !== 405) found.push([status, body.code])
      }
      expect([path, found.length > 0]).toEqual([path, true])
      for (const answer of found) expect([path, answer]).toEqual([path, [403, 'acting']])
    }
    expect(made.notices).toEqual([])
  })

  it('is refused by guards and the strategy, and by changes that the app makes', async () => {
    const made = actingHost()
    const agent = await made.acting()
    const refused = await agent.post('/transfer').expect(403).expect('Cache-Control', 'no-store')
    expect(refused.body.code).toBe('acting')
    expect((await agent.post('/bound').send({}).expect(403)).body.code).toBe('acting')
    const gated = await agent.get('/gated').expect(403).expect('Cache-Control', 'no-store')
    expect(gated.body.code).toBe('acting')
    const withoutFactor = await made.staff()
    await withoutFactor.post('/act/nina').expect(200)
    expect((await withoutFactor.get('/gated').expect(403)).body.code).toBe('acting')
    await agent.post('/strategy').send({ code: '123456' }).expect(403)
    await everyCase([['factorAdded'], ['factorRemoved'], ['renewSession']], async ([change]) => {
      expect((await agent.post(`/account/${change}`)).body.failed).toBe('ERR_MFA_ACTING')
      // Without our status on the request, nobody can tell who acts.
      const { failed } = (await agent.post(`/account/${change}?forgotten=yes`)).body
      expect(failed).toBe('ERR_MFA_TWO_COPIES')
    })
    expect(made.notices).toEqual([])
  })

  it('shows a browser why', async () => {
    const made = actingHost()
    const agent = await made.acting()
    const sent = await agent.get('/gated').set('Accept', 'text/html').expect(303)
    expect(sent.headers.location).toBe('/mfa')
    const { text } = await agent.get('/mfa').set('Accept', 'text/html').expect(403)
    expect(text).toContain('You are acting for someone else')
    expect(text).toMatch(/action="\/mfa\/cancel"><button class="mfa-primary">Back to your own account/)
    expect(text).toContain('Back to Testbed')
    await agent.post('/mfa/cancel').set('Accept', 'text/html').expect(303).expect('Location', '/')
    expect((await agent.get('/secret').expect(200)).body.mfa.status).toBe('verified')
  })
})

describe('acting (R119)', () => {
  it('does not nest', async () => {
    const agent = await actingHost().acting()
    expect((await agent.post('/act/otto')).body.failed).toBe('ERR_MFA_ACTING')
    expect(await whoIs(agent)).toMatchObject({ actor: { sub: 'u-ali' } })
  })

  it('ends once, in whichever of two tabs is first', async () => {
    const store = new FaultyStore()
    const made = actingHost({ store })
    const agent = await made.acting()
    // Both find their session before one of them ends it.
    store.readMs = 20
    const answers = await Promise.all([agent.post('/stop'), agent.post('/stop')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(made.events.filter(({ type }) => type === 'acting_stopped')).toHaveLength(1)
  })

  it('ends with the session: a logout ends both', async () => {
    const agent = await actingHost().acting()
    await agent.post('/logout').expect(200)
    await agent.get('/secret').expect(401)
    expect((await agent.post('/stop')).status).not.toBe(200)
  })

  it('ends when all sessions of either of them are ended', () =>
    everyCase([['alice'], ['bob']] as const, async ([name]) => {
      const clock = stopClock()
      const made = actingHost()
      const agent = await made.acting()
      clock.move(1)
      const user = made.users[name]
      if (user) await createMfa(made.mfa).account.secure(user)
      await agent.get('/secret').expect(401)
      expect((await agent.post('/stop')).status).not.toBe(200)
    }))

  it('returns to no session whose member of staff the host no longer finds, or whose record does not fit', () =>
    everyCase(
      [
        ['the user', ({ users }: Host): void => void delete users.alice],
        [
          'the record',
          ({ store }: Host): void => {
            const stored: Record<string, string> = Reflect.get(store, 'sessions')
            for (const [id, text] of Object.entries(stored))
              stored[id] = text.replace('@/mfa 2v ', '@/mfa 2x ')
          },
        ],
      ] as const,
      async ([, lose]) => {
        const made = actingHost()
        const agent = await made.acting()
        lose(made)
        expect((await agent.post('/stop').expect(401)).body.failed).toBe('ERR_MFA_SESSION_ENDED')
      },
    ))

  it('returns to no session that is ended meanwhile', async () => {
    const clock = stopClock()
    const agent = await actingHost().acting()
    clock.move(1)
    await agent.post('/stop?secure=alice').expect(401, { failed: 'ERR_MFA_SESSION_ENDED' })
    await agent.get('/secret').expect(401)
  })

  it('can be ended again after the session store failed', async () => {
    const store = new FaultyStore()
    const agent = await actingHost({ store }).acting()
    store.failOn('destroy')
    await agent.post('/stop').expect(503)
    expect((await agent.post('/stop').expect(200)).body.user).toMatchObject({ id: 'u-ali' })
  })

  it('goes on after the sessions of the member of staff that were ended before it began', async () => {
    const clock = stopClock()
    const made = actingHost()
    await createMfa(made.mfa).account.secure(made.users.alice ?? expect.unreachable())
    clock.move(1)
    const agent = await made.acting()
    expect(await whoIs(agent)).toMatchObject({ actor: { sub: 'u-ali' } })
  })

  it('returns to what was shown and when, which has not become fresher', async () => {
    const clock = stopClock()
    const made = actingHost()
    const agent = await made.acting()
    clock.move(6 * MINUTE)
    await agent.post('/stop').expect(200)
    await agent.post('/transfer').expect(401)
  })
})
