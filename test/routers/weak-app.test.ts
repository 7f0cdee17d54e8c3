import { createServer } from 'node:http'
import { createService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TRANSLATIONS } from '../../src/pages/text.js'
import { totpCode } from '../../src/testing/service.js'
import { approveChange, byCode } from '../kit/approved-change.js'
import { stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { host, jsonAgent } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { login, verify } from '../kit/sign-in.js'

/*
 * Authenticator apps that were imported into the self-hosted service, which the app calls over HTTP.
 */

const API_KEY = 'key_of_the_service_with_weak_apps'
const WEAK = 'JBSWY3DPEHPK3PXP'
const STRONG = WEAK.repeat(2)

const opened = createService({
  dataDir: 'memory://',
  secret: 'a secret for apps that are weak, long enough',
  apiKey: API_KEY,
  applicationName: 'Testbed',
  transcriber: 'off',
  delivery: 'inbox',
  logger() {},
})
let baseUrl = ''
beforeAll(async () => {
  const server = createServer((await opened).api)
  baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await (await opened).close()
  })
})

let users = 0

/** An app with one user, whose authenticator app was imported with this secret, and who has signed in with it. */
async function signedIn(secret: string) {
  users += 1
  const [id, email] = [`u-weak-${users}`, `weak-${users}@example.com`]
  const contact = { kind: 'email', email } as const
  await (await opened).importApp({ account: id, contact, secret, allowWeak: true })
  const made = host({ options: { service: { baseUrl, apiKey: API_KEY } } })
  made.users.zoe = { id, email, factors: [] }
  const agent = jsonAgent(made.app)
  await login(agent, 'zoe').expect(200)
  await verify(agent, totpCode(secret), { factor: 'app' }).expect(200)
  return { ...made, agent }
}

type Agent = ReturnType<typeof jsonAgent>

const bannerIn = async (agent: Agent, language = 'en') =>
  (await agent.get('/secret').set('Accept-Language', language).expect(200)).body.mfa.banner

const pageIn = async (agent: Agent, language = 'en') =>
  (await agent.get('/mfa').set('Accept', 'text/html').set('Accept-Language', language).expect(200)).text

const HINT = 'Your authenticator app uses a short key.'

describe('a user whose imported authenticator app has a short secret', () => {
  it('is asked after the sign-in to set it up again: on the pages of the app and on the factor page, with a link', async () => {
    const { agent } = await signedIn(WEAK)
    expect(await bannerIn(agent)).toContain(HINT)
    const page = await pageIn(agent)
    expect(page).toContain(HINT)
    expect(page).toContain(
      '<a class="mfa-secondary" href="/mfa/enroll-app">Replace your authenticator app</a>',
    )
  })

  it('is not asked any more once it is replaced, in this session and at the next sign-in', async () => {
    const clock = stopClock()
    const { app, agent } = await signedIn(WEAK)
    clock.move(30_000)
    const owned = () => totpCode(WEAK)
    await approveChange(agent, '/mfa/enroll-app', byCode(agent, owned))
    const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent
      .post('/mfa/enroll-app/confirm')
      .send({ code: totpCode(body.secret) })
      .expect(200)
    expect(await bannerIn(agent)).toBeNull()
    expect(await pageIn(agent)).not.toContain(HINT)
    clock.move(30_000)
    const next = jsonAgent(app)
    await login(next, 'zoe').expect(200)
    await verify(next, totpCode(body.secret), { factor: 'app' }).expect(200)
    expect(await bannerIn(next)).toBeNull()
  })

  it('is not asked any more once it is removed', async () => {
    const { agent } = await signedIn(WEAK)
    await agent.post('/mfa/enroll-app/remove').send({}).expect(200)
    expect(await bannerIn(agent)).toBeNull()
  })

  it('reads it in each of the languages', async () => {
    const { agent } = await signedIn(WEAK)
    const seen = new Set<string>()
    await everyCase(['en', ...TRANSLATIONS], async (language) => {
      const sentence = await bannerIn(agent, language)
      expect(sentence.length).toBeGreaterThan(20)
      expect(await pageIn(agent, language)).toContain(sentence)
      seen.add(sentence)
    })
    expect(seen.size).toBe(14)
  })
})

it('a user whose imported authenticator app has a secret of 128 bits is asked for nothing', async () => {
  const { agent } = await signedIn(STRONG)
  expect(await bannerIn(agent)).toBeNull()
  expect(await pageIn(agent)).not.toContain(HINT)
})
