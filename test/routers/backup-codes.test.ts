import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MfaEvent, type MfaOptions, requireMfa } from '../../src/index.js'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { testService, totpCode } from '../../src/testing/service.js'
import { approveChange, byCode } from '../kit/approved-change.js'
import { browserAgent, type Host, host, jsonAgent, signIn, signInFully, type TestUser } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** A host whose service returns backup codes for a page. */
function showing(factors?: TestUser['factors'], options: Partial<MfaOptions<TestUser>> = {}) {
  const inbox = testInbox()
  const service = testService(testCarrier(inbox))
  const events: MfaEvent[] = []
  const notices: string[] = []
  const made = host({
    options: {
      service: service.service,
      ...(factors && { factors: () => factors }),
      onEvent: (event) => void events.push(event),
      notices: { onNotice: (_user, { type }) => void notices.push(type) },
      ...options,
    },
    routes: (app) => {
      for (const minStrength of ['medium', 'strong'] as const)
        app.get(`/${minStrength}`, requireMfa({ minStrength }), (_req, res) => void res.json({ done: true }))
    },
  })
  const listsApp = factors?.some(({ method }) => method === 'app') ?? true
  const secret = listsApp ? service.enroll('alice@example.com') : ''
  /** Signs alice in with her app. */
  const alice = async (agent = browserAgent(made.app)) => {
    vi.setSystemTime(Date.now() + 30_000)
    await login(agent, 'alice').set('Accept', 'application/json').expect(200)
    const body = { code: totpCode(secret, Date.now()), factor: 'app' }
    await agent.post('/mfa/verify').set('Accept', 'application/json').send(body).expect(200)
    return agent
  }
  /** Approves that codes are shown: with the app, or else a code that is sent. */
  const approve = (agent: Agent) =>
    approveChange(
      agent,
      '/mfa/backup/codes',
      byCode(agent, (factor) => {
        vi.setSystemTime(Date.now() + 30_000)
        return factor === 'app' ? totpCode(secret, Date.now()) : inbox.all()[0]?.code
      }),
    )
  return { ...made, alice, approve, events, notices, inbox, kit: service }
}

const codesIn = (page: string): string[] => page.match(/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}(?=<\/code>)/g) ?? []

type Agent = ReturnType<typeof browserAgent>

/** Asks for codes, and returns the page that shows them. */
async function codesPage(
  { approve }: Pick<ReturnType<typeof showing>, 'approve'>,
  agent: Agent,
): Promise<string> {
  await approve(agent)
  await agent
    .post('/mfa/backup/codes')
    .type('form')
    .send({})
    .expect(303)
    .expect('Location', '/mfa/backup/codes')
  return (await agent.get('/mfa/backup/codes').expect(200)).text
}

const status = async ({ app }: Pick<Host, 'app'>, code: string, name = 'alice') => {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  const { body } = await verify(agent, code, { factor: 'backup' })
  return { agent, status: body.code ?? body.status }
}

describe('backup codes on a page', () => {
  it('are shown once: not when the page is loaded again, nor after the user went back (R61)', async () => {
    const made = showing()
    const agent = await made.alice()
    const start = (await agent.get('/mfa/backup').expect(200)).text
    expect(start).toContain('action="/mfa/backup/codes"')
    const page = await codesPage(made, agent)
    const codes = codesIn(page)
    expect(new Set(codes).size).toBe(10)
    expect(made.inbox.all()).toEqual([])
    const again = await agent.get('/mfa/backup/codes').expect(200).expect('Cache-Control', 'no-store')
    expect(codesIn(again.text)).toEqual([])
    expect(again.text).toContain('Your codes were already shown')
    expect(again.text).toContain('action="/mfa/backup/codes"')
    // Nothing changed by that: the codes that were shown are valid.
    expect((await status(made, codes[0] ?? '')).status).toBe('verified')
  })

  it('can be shown again to a browser that got no response, for a minute', async () => {
    const made = showing()
    const agent = await made.alice()
    await made.approve(agent)
    await agent.post('/mfa/backup/codes').type('form').send({}).expect(303)
    await agent.head('/mfa/backup/codes').expect(200)
    expect(codesIn((await agent.get('/mfa/backup/codes')).text)).toHaveLength(10)
    await made.approve(agent)
    await agent.post('/mfa/backup/codes').type('form').send({}).expect(303)
    vi.setSystemTime(Date.now() + 60_000)
    expect(codesIn((await agent.get('/mfa/backup/codes')).text)).toEqual([])
  })

  it('are shown only in the browser that asked for them, and are in the session store only encrypted (R10)', async () => {
    const made = showing()
    const agent = await made.alice()
    await made.approve(agent)
    const answer = await agent.post('/mfa/backup/codes').type('form').send({}).expect(303)
    const key = (answer.get('Set-Cookie') ?? []).find((cookie) => cookie.startsWith('mfa_backup_codes='))
    expect(key).toContain('HttpOnly')
    const sessions = JSON.stringify(Reflect.get(made.store, 'sessions'))
    const codes = codesIn((await agent.get('/mfa/backup/codes')).text)
    for (const code of codes) expect(sessions).not.toContain(code)
    expect(codes).toHaveLength(10)
  })

  it('can be copied, printed and downloaded, and lead on by a button alone', async () => {
    const made = showing()
    const page = await codesPage(made, await made.alice())
    const codes = codesIn(page)
    const file = decodeURIComponent(
      page.match(
        /href="data:text\/plain;charset=utf-8,([^"]+)" download="backup-codes-[^"]+-\d{4}-\d\d-\d\d.txt"/,
      )?.[1] ?? '',
    )
    expect(file.split('\r\n').filter((line) => codes.includes(line))).toEqual(codes)
    expect(file).toContain('Backup codes for Testbed.')
    expect(page).toContain(`data-mfa-copy="${codes.join('\n')}"`)
    expect(page).toContain('data-mfa-print')
    expect([...page.matchAll(/<a [^>]*href="([^"]{0,5})/g)].map(([, href]) => href)).toEqual(['data:'])
  })

  it('are followed by the page of factors, which says how many there are', async () => {
    const made = showing()
    const agent = await made.alice()
    await codesPage(made, agent)
    await agent.post('/mfa/backup/saved').type('form').send({}).expect(303).expect('Location', '/mfa')
    expect((await agent.get('/mfa').expect(200)).text).toContain('10 backup codes left')
    await agent.get('/mfa/backup/codes').expect(303).expect('Location', '/mfa/backup')
  })

  it('replace earlier ones, notify the user and emit an event without them (R61, R89)', async () => {
    const made = showing()
    const agent = await made.alice()
    const [old = ''] = codesIn(await codesPage(made, agent))
    const [fresh = ''] = codesIn(await codesPage(made, agent))
    expect((await status(made, old)).status).toBe('invalid_code')
    expect((await status(made, fresh)).status).toBe('verified')
    expect(made.notices.filter((type) => type === 'backup_codes_shown')).toHaveLength(2)
    expect(made.events.filter(({ type }) => type === 'backup_codes_shown')).toHaveLength(2)
    expect(JSON.stringify(made.events)).not.toContain(fresh)
  })

  it('need a fresh factor as strong as the strongest one of the account (R92)', async () => {
    const made = showing()
    const agent = jsonAgent(made.app)
    await login(agent, 'alice').expect(200)
    await agent.post('/mfa/backup/codes').send({}).expect(401)
    await agent.post('/mfa/challenge').send({ factor: 'email' }).expect(200)
    await verify(agent, made.inbox.all()[0]?.code ?? '').expect(200)
    const { body } = await agent.post('/mfa/backup/codes').send({}).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'app' }], backup: false })
    const owner = await made.alice(jsonAgent(made.app))
    await made.approve(owner)
    await owner.post('/mfa/backup/codes').send({}).expect(200)
    vi.setSystemTime(Date.now() + 5 * 60_000)
    await owner.post('/mfa/backup/codes').send({}).expect(401)
  })

  it('are limited as those that are sent', async () => {
    const made = showing()
    const agent = await made.alice(jsonAgent(made.app))
    for (let i = 0; i < 5; i++) {
      await made.approve(agent)
      await agent.post('/mfa/backup/codes').send({}).expect(200)
    }
    await made.approve(agent)
    const { body } = await agent.post('/mfa/backup/codes').send({}).expect(429)
    expect(body.code).toBe('too_many_messages')
  })

  it('are answered as JSON, with their strength', async () => {
    const made = showing()
    const agent = await made.alice(jsonAgent(made.app))
    await made.approve(agent)
    const { body } = await agent
      .post('/mfa/backup/codes')
      .send({})
      .expect(200)
      .expect('Cache-Control', 'no-store')
    expect(body).toEqual({ status: 'created', codes: expect.any(Array), count: 10, strength: 'medium' })
    await agent.get('/mfa/backup/codes').expect(404)
    await agent.post('/mfa/backup/saved').send({}).expect(200, { status: 'saved', next: '/mfa' })
  })
})

describe('the strength of a backup code that was shown on a page (R93)', () => {
  it('is medium, although the user has a mailbox, and is never strong', async () => {
    const made = showing()
    const owner = await made.alice(jsonAgent(made.app))
    await made.approve(owner)
    const { body } = await owner.post('/mfa/backup/codes').send({}).expect(200)
    const { agent } = await status(made, body.codes[0])
    await agent.get('/medium').expect(200)
    await agent.get('/strong').expect(401)
    const { body: refused } = await agent.post('/mfa/enroll-app').send({}).expect(401)
    expect(refused).toMatchObject({ code: 'step_up_required', backup: false })
  })

  it('replaces the weak one of codes that were sent, and the other way round', async () => {
    const phone: TestUser['factors'] = [
      { method: 'sms', phone: '+447700900101' },
      { method: 'email', email: 'alice@example.com' },
    ]
    const made = showing(phone)
    const signInBy = async (code: string) => (await status(made, code)).agent
    const owner = jsonAgent(made.app)
    await login(owner, 'alice').expect(200)
    await owner.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    await verify(owner, made.inbox.all()[0]?.code ?? '').expect(200)
    await made.approve(owner)
    const shown = (await owner.post('/mfa/backup/codes').send({}).expect(200)).body.codes
    // The strongest factor is a phone, so a medium code is enough for a change of factors.
    const agent = await signInBy(shown[0])
    await approveChange(agent, '/mfa/enroll-app', async () => ({ code: shown[1], factor: 'backup' }))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await owner.post('/mfa/backup').send({}).expect(200)
    const sent = made.inbox.all()[0]?.codes[0] ?? ''
    const { body } = await (await signInBy(sent)).post('/mfa/enroll-app').send({}).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', backup: false })
  })

  it('signs in where the policy requires it, which a code that was sent does not (R93, R115)', async () => {
    const made = showing(undefined, { policy: () => ({ require: 'medium' }) })
    const owner = await made.alice(jsonAgent(made.app))
    await made.approve(owner)
    const [first, second] = (await owner.post('/mfa/backup/codes').send({}).expect(200)).body.codes
    expect((await status(made, first)).status).toBe('verified')
    // The service learns with the code itself that it was sent.
    const { verify: evaluate } = made.kit.service
    made.kit.service.verify = async (request) => {
      const answer = await evaluate(request)
      return answer.outcome === 'valid' ? { outcome: 'valid', kind: 'backup' } : answer
    }
    const agent = await signIn(made.app, 'alice')
    const { body } = await verify(agent, second, { factor: 'backup' }).expect(401)
    expect(body).toMatchObject({ code: 'invalid_code', attemptsLeft: 4 })
    await agent.get('/secret').expect(401)
    await owner.post('/mfa/backup').send({}).expect(200)
    const sent = made.inbox.all()[0]?.codes[0]
    expect((await verify(agent, sent, { factor: 'backup' }).expect(404)).body.code).toBe('unknown_factor')
  })

  it('lets a user with an authenticator app alone sign in by backup code', async () => {
    const made = showing([{ method: 'app', user: 'alice@example.com' }])
    const owner = await made.alice()
    expect((await owner.get('/mfa/backup')).text).not.toContain('instead')
    const [code = ''] = codesIn(await codesPage(made, owner))
    const agent = browserAgent(made.app)
    await login(agent, 'alice').set('Accept', 'application/json').expect(200)
    expect((await agent.get('/mfa?choose').expect(200)).text).toContain('Use a backup code')
    expect((await status(made, code)).status).toBe('verified')
  })
})

describe('the last backup code that was shown on a page', () => {
  it('is used, and the next sign-in offers none', async () => {
    const contact = { kind: 'email', email: 'alice@example.com' } as const
    const made = showing([{ method: 'app', user: contact.email }])
    const [last = '', ...others] = codesIn(await codesPage(made, await made.alice()))
    for (const code of others) {
      const request = {
        method: 'app',
        contact,
        kind: 'backup',
        purpose: 'sign-in',
        transaction: 't',
      } as const
      await made.kit.service.verify({ ...request, code: code.replaceAll('-', '') })
    }
    const offer = async () => {
      const agent = browserAgent(made.app)
      await login(agent, 'alice').set('Accept', 'application/json').expect(200)
      return (await agent.get('/mfa?choose').expect(200)).text
    }
    expect(await offer()).toContain('Use a backup code')
    expect((await status(made, last)).status).toBe('verified')
    expect(await offer()).not.toContain('Use a backup code')
  })
})

describe('a service that can only send backup codes', () => {
  it('sends them from the page, and refuses to show them', async () => {
    const made = host()
    const agent = await signInFully(made, 'bob')
    const page = await agent.get('/mfa/backup').set('Accept', 'text/html').expect(200)
    expect(page.text).toContain('action="/mfa/backup"')
    expect(page.text).not.toContain('/mfa/backup/codes')
    const { body } = await agent.post('/mfa/backup/codes').send({})
    expect(body.code).toBe('method_off')
  })

  it('accepts none of a user without a contact to send them to', async () => {
    const made = host()
    const agent = await signIn(made.app, 'otto')
    const { body } = await verify(agent, 'AAAA-BBBB-CCCC-DDDD', { factor: 'backup' }).expect(404)
    expect(body.code).toBe('unknown_factor')
    const withoutFactor = await signIn(made.app, 'nina')
    const refused = await verify(withoutFactor, 'AAAA-BBBB-CCCC-DDDD', { factor: 'backup' }).expect(403)
    expect(refused.body.code).toBe('enrollment_required')
    expect(made.standIn.count('verify')).toBe(0)
  })
})
