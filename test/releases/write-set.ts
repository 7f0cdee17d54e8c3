import type { CountersignService } from '@countersign/service'
import { vi } from 'vitest'
import { eventReceiver } from '../../service/test/events/event-receiver.js'
import { appCode, wrong } from '../../service/test/kit.js'
import { KEY_PAGE } from '../../service/test/software-key.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { MINUTE } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { jsonAgent, type TestUser, withCookie } from '../kit/host.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { trustCookieOf } from '../trust/kit.js'
import { recordAnswers } from './answers.js'
import { type App, sessionsIn, startApp, startService } from './app.js'
import type { Place } from './places.js'
import type { ReleaseSet } from './release-set.js'
import { dumpTables } from './tables.js'

/** One user for each thing that is kept, so that no limit of one touches another. */
const USERS = Object.fromEntries(
  ['vera', 'petra', 'cody', 'tom', 'eve', 'lou', 'amy', 'ron', 'rae', 'nina', 'kim'].map((name, nth) => {
    const phone = `+4477009001${String(nth).padStart(2, '0')}`
    const email = `${name}@example.com`
    const none = ['nina', 'kim'].includes(name)
    const both = ['amy', 'ron', 'rae'].includes(name)
    const factors: TestUser['factors'] = none ? [] : [{ method: 'sms', phone }]
    return [
      name,
      { id: `u-${name}`, email, factors: both ? [...factors, { method: 'email', email }] : factors },
    ]
  }),
) satisfies Record<string, TestUser>

export const phoneOf = (users: Record<string, TestUser>, name: string): string => {
  const sms = users[name]?.factors.find(({ method }) => method === 'sms')
  return sms && 'phone' in sms ? sms.phone : ''
}

type Clock = { readonly move: (ms: number) => void }
type Stage = { readonly app: App; readonly clock: Clock }

/** Uses this release in an empty place, ends it, and returns everything that it stored, and with `wire` what it sent. */
export async function writtenBy(
  version: string,
  { place, clock, wire }: { readonly place: Place; readonly clock: Clock; readonly wire: boolean },
): Promise<ReleaseSet> {
  const service = await startService(place)
  const app = await startApp(place, service, USERS)
  const webhooks = await withWebhooks(service, wire, async () => {
    const stage = { app, clock }
    const browsers = { ...(await factors(stage)), ...(await logins(stage)) }
    return { browsers, answers: wire ? await recordAnswers(app, clock) : [] }
  })
  const at = Date.now()
  await app.close()
  await service.close()
  const { posted, secret, done } = webhooks
  return {
    ...{ version, at, users: USERS as ReleaseSet['users'], sessions: { ...sessionsIn(app.sessions) } },
    ...{ stored: await place.dump(), tables: await dumpTables(place.database) },
    ...{ browsers: done.browsers, answers: done.answers, webhooks: { secret, posted: wire ? posted : [] } },
  }
}

/** The browser of a user who has shown the first factor. */
async function pendingLogin({ app }: Stage, name: string): Promise<string> {
  return sessionCookie(await login(jsonAgent(app.app), name).expect(200))
}

/** The session of a user who has entered a code that was sent, and the response to it. */
async function signedIn(stage: Stage, name: string, trust?: true) {
  const pending = withCookie(stage.app.app, await pendingLogin(stage, name))
  await challenge(pending, 'sms').expect(200)
  const code = await stage.app.codeFor(phoneOf(USERS, name))
  const response = await verify(pending, code, trust && { trust }).expect(200)
  return { response, cookie: sessionCookie(response) }
}

/** Sets factors up, ends some, and lets time pass. */
async function factors(stage: Stage) {
  const { app, clock } = stage
  const secretOf = async (name: string) => {
    const signed = withCookie(app.app, (await signedIn(stage, name)).cookie)
    const { approval } = (await signed.post('/mfa/enroll-app').expect(401)).body
    await signed.post('/mfa/challenge').send({ factor: 'sms', approval: approval.id }).expect(200)
    const code = await app.codeFor(phoneOf(USERS, name))
    const approved = await signed.post('/mfa/verify').send({ code, approval: approval.id }).expect(200)
    const agent = withCookie(app.app, sessionCookie(approved))
    const { secret } = (await agent.post('/mfa/enroll-app').expect(200)).body
    const confirmed = await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: appCode(secret) })
      .expect(200)
    return { secret: String(secret), cookie: sessionCookie(confirmed) }
  }
  const setUp = await secretOf('amy')
  clock.move(MINUTE)
  // The setup counts for no change of factors.
  const asked = withCookie(app.app, setUp.cookie)
  await asked.post('/mfa/backup').send({}).expect(401)
  const shown = await asked
    .post('/mfa/verify')
    .send({ factor: 'app', code: appCode(setUp.secret) })
    .expect(200)
  const amy = { secret: setUp.secret, cookie: sessionCookie(shown) }
  const kept = await withCookie(app.app, amy.cookie).post('/mfa/backup').send({}).expect(200)
  const delivered = await app.messages('amy@example.com')
  const [backupCode = ''] =
    /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec([JSON.stringify(kept.body), ...delivered].join('\n')) ?? []

  await secretOf('ron')
  clock.move(2 * MINUTE)
  const recovering = withCookie(app.app, await pendingLogin(stage, 'ron'))
  await challenge(recovering, 'email').expect(200)
  const byMail = await verify(recovering, await app.codeFor('ron@example.com')).expect(200)
  const recovery = await withCookie(app.app, sessionCookie(byMail)).post('/mfa/recover').send({}).expect(200)

  const { rae } = app.users
  if (!rae) throw new Error('expected rae')
  const bypass = await app.account.reset(rae, { by: 'staff-7', reason: 'Lost phone' })

  const device = softwareAuthenticator()
  const kim = jsonAgent(app.app)
  await login(kim, 'kim').expect(200)
  const { publicKey } = (await kim.post('/mfa/keys/options').send({ method: 'passkey' }).expect(200)).body
  await kim
    .post('/mfa/keys')
    .send({ method: 'passkey', response: device.create(publicKey, KEY_PAGE), name: 'Phone' })
    .expect(200)
  clock.move(MINUTE)
  const link = app.notices.findLast(({ notMeUrl }) => notMeUrl !== undefined)?.notMeUrl
  const asking = await pendingLogin(stage, 'kim')
  const { body } = await challenge(withCookie(app.app, asking), 'passkey').expect(200)
  return {
    app: { secret: amy.secret, backupCode },
    recovery: { readyAt: String(recovery.body.readyAt) },
    bypass: { code: bypass.code },
    passkey: { cookie: asking, response: { ...device.get(body.publicKey, KEY_PAGE) } as unknown },
    notMe: { token: new URL(link ?? '').searchParams.get('token') ?? '' },
  }
}

/** Signs in and half in, guesses, and leaves everything as it is. */
async function logins(stage: Stage) {
  const { app, clock } = stage
  const guess = async (name: string, times: number) => {
    const cookie = await pendingLogin(stage, name)
    const agent = withCookie(app.app, cookie)
    await challenge(agent, 'sms').expect(200)
    const code = await app.codeFor(phoneOf(USERS, name))
    for (let nth = 0; nth < times; nth++)
      await verify(agent, wrong(code)).expect(({ status }) => status >= 400)
    return cookie
  }
  await guess('lou', 5)
  clock.move(2 * MINUTE)
  await guess('lou', 5)
  const guessing = await guess('eve', 3)
  const { response } = await signedIn(stage, 'tom', true)
  const again = await login(jsonAgent(app.app).set('Cookie', trustCookieOf(response)), 'tom').expect(200)
  const verified = await signedIn(stage, 'vera')
  const challenged = await pendingLogin(stage, 'cody')
  await challenge(withCookie(app.app, challenged), 'sms').expect(200)
  const code = await app.codeFor(phoneOf(USERS, 'cody'))
  return {
    verified: { cookie: verified.cookie },
    pending: { cookie: await pendingLogin(stage, 'petra') },
    challenged: { cookie: challenged, code },
    exempt: { cookie: await pendingLogin(stage, 'nina') },
    trusted: { cookie: sessionCookie(again), trust: trustCookieOf(again) },
    guessing: { cookie: guessing },
  }
}

/** The events that a service posts meanwhile. */
async function withWebhooks<Done>(service: CountersignService, waits: boolean, work: () => Promise<Done>) {
  const receiver = await eventReceiver()
  const types = ['user.locked', 'factor.added', 'factor.removed']
  const { secret } = await service
    .operator('ann')
    .events.create('default', { url: `${receiver.url}/e`, types })
  receiver.state.secrets = [secret]
  const done = await work()
  await vi.waitFor(
    () => {
      const seen = receiver.events.map(({ type }) => String(type))
      if (waits && !types.every((type) => seen.includes(type))) throw new Error(`no event but ${seen}`)
    },
    { timeout: PATIENCE_MS, interval: 20 },
  )
  await receiver.close()
  // One of each kind is enough.
  const firsts = new Map(
    receiver.requests.map(({ headers, body }) => [String(JSON.parse(body).type), { headers, body }]),
  )
  const posted = [...firsts.values()].map(({ headers, body }) => ({
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith('webhook-') ? [[name, String(value)]] : [],
      ),
    ),
    body,
  }))
  return { done, secret, posted }
}
