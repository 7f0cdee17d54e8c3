import assert from 'node:assert/strict'
import type { CountersignService } from '@countersign/service'
import { MemoryStore } from 'express-session'
import type { Response } from 'supertest'
import { appCode, wrong } from '../../service/test/kit.js'
import { verifyWebhook } from '../../src/index.js'
import { jsonAgent, withCookie } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { trustCookieOf } from '../trust/kit.js'
import { returnedFor } from './answers.js'
import { type App, sessionsIn, startApp, startService } from './app.js'
import type { Place } from './places.js'
import type { ReleaseSet } from './release-set.js'
import { restoreTables } from './tables.js'

/*
 * The data that this release has to understand from another one, stored or sent. Each promise is a function of its own that throws, so that
 * a test can also see it fail when a defect is switched on.
 */

/** A service with this source on the database in a set. The clock has to show the time of the set, here and below. */
export async function startServiceOn(set: ReleaseSet, place: Place): Promise<CountersignService> {
  await restoreTables(place.database, set.tables)
  return startService(place)
}

/** An app with this source on what a set holds beside the database of the service. */
export async function startAppOn(set: ReleaseSet, place: Place, service: CountersignService): Promise<App> {
  await place.restore(set.stored)
  const sessions = new MemoryStore()
  Object.assign(sessionsIn(sessions), set.sessions)
  return startApp(place, service, structuredClone(set.users), { sessions })
}

type Promised = (app: App, set: ReleaseSet) => Promise<void>

/** The answers of `GET /secret` and `GET /mfa` to a browser. */
async function standing({ app }: App, cookie: string) {
  const secret = await withCookie(app, cookie).get('/secret')
  const { body } = await withCookie(app, cookie).get('/mfa')
  return { isOpen: secret.status === 200, status: body.status, trusted: secret.body.mfa?.trusted ?? false }
}

function hasStatus(response: Response, status: number): Response['body'] {
  assert.equal(response.status, status, `${response.request?.url ?? ''} ${JSON.stringify(response.body)}`)
  return response.body
}

async function pending({ app }: App, name: string) {
  const agent = jsonAgent(app)
  hasStatus(await login(agent, name), 200)
  return agent
}

/** The promises about what one release stored, as the ends of sentences that begin with "a later release". */
export const STORED = {
  'leaves a verified session verified': async (app, { browsers }) => {
    assert.deepEqual(await standing(app, browsers.verified.cookie), {
      isOpen: true,
      status: 'verified',
      trusted: false,
    })
  },
  'leaves a pending login pending': async (app, { browsers }) => {
    assert.deepEqual(await standing(app, browsers.pending.cookie), {
      isOpen: false,
      status: 'pending',
      trusted: false,
    })
  },
  'leaves a session without a factor signed in': async (app, { browsers }) => {
    assert.deepEqual(await standing(app, browsers.exempt.cookie), {
      isOpen: true,
      status: 'none',
      trusted: false,
    })
  },
  'signs in by a code that was sent before': async (app, { browsers }) => {
    const agent = jsonAgent(app.app).set('Cookie', browsers.challenged.cookie)
    hasStatus(await verify(agent, browsers.challenged.code), 200)
    assert.equal((await agent.get('/mfa')).body.status, 'verified')
  },
  'leaves the session of a trusted browser signed in, and recognizes the browser at the next login': async (
    app,
    { browsers },
  ) => {
    const { isOpen, trusted } = await standing(app, browsers.trusted.cookie)
    assert.deepEqual({ isOpen, trusted }, { isOpen: true, trusted: true })
    const first = await login(jsonAgent(app.app).set('Cookie', browsers.trusted.trust), 'tom')
    assert.equal(hasStatus(first, 200).mfa.trusted, true)
    const second = await login(jsonAgent(app.app).set('Cookie', trustCookieOf(first)), 'tom')
    assert.equal(hasStatus(second, 200).mfa.trusted, true)
  },
  'goes on counting wrong codes': async (app, { browsers }) => {
    const { body } = await verify(withCookie(app.app, browsers.guessing.cookie), '000000')
    assert.deepEqual([body.code, body.attemptsLeft], ['invalid_code', 1])
  },
  'leaves a locked account locked': async (app) => {
    const { body } = await challenge(await pending(app, 'lou'), 'sms')
    assert.equal(body.code, 'locked')
  },
  'signs in by an authenticator app, and not by its last code again': async (app, { at, browsers }) => {
    const agent = await pending(app, 'amy')
    const code = appCode(browsers.app.secret, at)
    hasStatus(await verify(agent, wrong(code), { factor: 'app' }), 401)
    hasStatus(await verify(agent, code, { factor: 'app' }), 200)
    hasStatus(await verify(await pending(app, 'amy'), code, { factor: 'app' }), 401)
  },
  'signs in by a backup code, once': async (app, { browsers }) => {
    const { backupCode: code } = browsers.app
    hasStatus(await verify(await pending(app, 'amy'), code, { factor: 'backup' }), 200)
    hasStatus(await verify(await pending(app, 'amy'), code, { factor: 'backup' }), 401)
  },
  'accepts what a passkey signed for a challenge that was made before': async (app, { browsers }) => {
    const { cookie, response } = browsers.passkey
    const sent = { factor: 'passkey', response }
    hasStatus(await withCookie(app.app, cookie).post('/mfa/verify').send(sent), 200)
  },
  'accepts a code of the help desk, once': async (app, { browsers }) => {
    const agent = await pending(app, 'rae')
    const body = hasStatus(await verify(agent, browsers.bypass.code, { factor: 'bypass' }), 200)
    assert.equal(body.status, 'enrollment_required')
    hasStatus(await verify(await pending(app, 'rae'), browsers.bypass.code, { factor: 'bypass' }), 401)
  },
  'goes on with a recovery': async (app, { browsers }) => {
    const agent = await pending(app, 'ron')
    hasStatus(await challenge(agent, 'email'), 200)
    hasStatus(await verify(agent, await app.codeFor('ron@example.com')), 200)
    const body = hasStatus(await agent.post('/mfa/recover').send({}), 200)
    assert.equal(body.readyAt, browsers.recovery.readyAt)
  },
  'follows the link of a notice, once': async (app, { browsers }) => {
    const follow = () => jsonAgent(app.app).post('/mfa/not-me').send(browsers.notMe)
    hasStatus(await follow(), 200)
    hasStatus(await follow(), 404)
  },
} satisfies Readonly<Record<string, Promised>>

/** Throws unless the client of this release makes the same of each answer; it may find out more. */
export async function readAnswers({ answers }: ReleaseSet): Promise<void> {
  for (const { returned, ...answer } of answers) {
    const now = await returnedFor(answer)
    assert.deepEqual(commonPart(now, returned), returned, answer.verb)
  }
}

/** The members of a value that another one has, too. */
function commonPart(value: unknown, like: unknown): unknown {
  if (typeof value !== 'object' || value === null || typeof like !== 'object' || like === null) return value
  if (Array.isArray(value))
    return Array.isArray(like) ? value.map((one, nth) => commonPart(one, like[nth])) : value
  return Object.fromEntries(
    Object.keys(like).map((name) => [name, commonPart(Reflect.get(value, name), Reflect.get(like, name))]),
  )
}

/** Throws unless each webhook is accepted, and read as what was posted. The clock has to show the time of the set. */
export function readWebhooks({ webhooks: { posted, secret } }: ReleaseSet): void {
  assert.ok(posted.length > 0)
  for (const { headers, body } of posted) {
    const event = verifyWebhook(body, headers, secret)
    assert.deepEqual({ ...event, id: undefined }, { ...JSON.parse(body), id: undefined })
    assert.equal(event.id, headers['webhook-id'])
  }
}
