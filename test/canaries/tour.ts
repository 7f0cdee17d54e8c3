import { createService } from '@countersign/service'
import { vi } from 'vitest'
import { eventReceiver } from '../../service/test/events/event-receiver.js'
import { appCode, listen, SECRET, wrong } from '../../service/test/kit.js'
import { KEY_PAGE, RELYING_PARTY } from '../../service/test/software-key.js'
import { createMfa, type MfaOptions, MfaStrategy, mfaClient, mfaSession } from '../../src/index.js'
import { maskForOwner } from '../../src/protocol/masked-contact.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { byCode, sendApproved } from '../kit/approved-change.js'
import { MINUTE } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { host, jsonAgent, type TestUser, withCookie } from '../kit/host.js'
import { codeIn } from '../kit/message-code.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { ownPlace } from '../releases/places.js'
import { type Database, dumpTables } from '../releases/tables.js'
import { canaries, type Sink } from './canaries.js'

/*
 * One user does everything that has to do with a secret, another one watches, an operator looks, and things fail. Everything that
 * others than the user get to see is searched. Secrets that the sources make are noted there; those of the tour are noted here.
 */

const API_KEY = 'canary_key_of_the_service_7Qd2'
const METRICS_KEY = 'canary_key_of_the_metrics_9Zx1'
const VICTIM = { email: 'canary.mailbox@nest.example', phone: '+447700900787' }
/** Of whom the service knows nothing. */
const STRANGER = 'cuckoo@nest.example'
const OTHER = { email: 'magpie@other.example', phone: '+447700900788' }

const userOf = (id: string, { email, phone }: typeof VICTIM): TestUser => ({
  ...{ id, email },
  factors: [
    { method: 'sms', phone },
    { method: 'email', email },
  ],
})

/** The parts that a tour needs beside the service. */
export interface TourOptions {
  /** The database of the service, which is searched afterwards. Defaults to one in memory, which is not. */
  readonly database?: Database
  /** The spans that ended, if there is an SDK for traces. */
  readonly spans?: () => readonly unknown[]
  /** The log of PostgreSQL. */
  readonly databaseLog?: () => Promise<string>
}

/** Takes the tour. The setup file of canaries searches what the process prints, stores as sessions and answers meanwhile. */
export async function takeTour({ database, spans, databaseLog }: TourOptions = {}): Promise<void> {
  canaries.noteContact(VICTIM)
  canaries.noteContact({ email: STRANGER })
  canaries.note('masked contact', maskForOwner({ kind: 'email', email: VICTIM.email }))
  canaries.note('masked contact', maskForOwner({ kind: 'phone', phone: VICTIM.phone }))
  for (const key of [API_KEY, METRICS_KEY]) canaries.note('API key', key)
  const search = (sink: Sink, value: unknown) => canaries.search(sink, value)
  const receiver = await eventReceiver()
  const service = await createService({
    ...(database ?? { dataDir: 'memory://' }),
    ...{ secret: SECRET, apiKey: API_KEY, applicationName: 'Vault', relyingParty: RELYING_PARTY },
    ...{ delivery: 'inbox', transcriber: 'off', liveTranscriber: 'off', metricsKey: METRICS_KEY },
    logger: () => {},
  })
  const server = await listen(service.api)
  const operator = service.operator('ann')
  const { id: endpoint, secret } = await operator.events.create('default', {
    url: `${receiver.url}/events`,
    types: ['user.locked', 'factor.added', 'factor.removed'],
  })
  receiver.state.secrets = [canaries.note('webhook secret', secret)]

  const place = ownPlace()
  const options: Partial<MfaOptions<TestUser>> = {
    service: { baseUrl: server.url, apiKey: API_KEY },
    urls: { publicUrl: 'https://shop.example' },
    limits: { store: place.counters },
    trustedDevices: { store: place.items },
    notices: { onNotice: () => {}, newBrowser: true },
    recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    diagnostics: {},
    onEvent: () => {},
  }
  const victim = userOf('u-1', VICTIM)
  const made = host({
    options,
    users: { victim, other: userOf('u-2', OTHER) },
    routes(app, mfa) {
      app.post('/pay', createMfa(mfa).requireMfa({ bind: ['amount'] }), (_req, res) => void res.json({}))
    },
  })
  const { app } = made
  const mfa = createMfa(made.mfa)

  const delivered = (to: string) =>
    vi.waitFor(
      async () => {
        const [message] = (await service.inbox?.messages({ to })) ?? []
        if (!message) throw new Error('no message')
        return message.text
      },
      { timeout: PATIENCE_MS, interval: 20 },
    )
  const signIn = async (trust?: true) => {
    vi.setSystemTime(Date.now() + 2 * MINUTE)
    const agent = withCookie(app, sessionCookie(await login(jsonAgent(app), 'victim').expect(200)))
    await challenge(agent, 'sms').expect(200)
    const code = codeIn(await delivered(VICTIM.phone))
    await verify(agent, wrong(code)).expect(401)
    return verify(agent, code, trust && { trust }).expect(200)
  }

  // Sign-in, a trusted browser, an app, backup codes that were shown and sent, a passkey, and what a notice links to.
  const trusting = await signIn(true)
  const agent = withCookie(app, sessionCookie(trusting))
  const bySms = byCode(agent, async () => codeIn(await delivered(VICTIM.phone)))
  // The session keeps the secret for when it is asked for again.
  const enrolled = (await sendApproved(agent, () => agent.post('/mfa/enroll-app').send({}), bySms)).body
  const confirmed = await agent
    .post('/mfa/enroll-app/confirm')
    .send({ code: appCode(enrolled.secret) })
    .expect(200)
  const owner = withCookie(app, sessionCookie(confirmed))
  // The setup counts for no change of factors.
  vi.setSystemTime(Date.now() + MINUTE)
  await verify(owner, appCode(enrolled.secret), { factor: 'app' }).expect(200)
  await owner.post('/mfa/backup').send({}).expect(200)
  await service.mfa.sendBackupCodes({ method: 'email', contact: { kind: 'email', email: VICTIM.email } })
  const device = softwareAuthenticator()
  const byApp = byCode(owner, () => {
    vi.setSystemTime(Date.now() + MINUTE)
    return appCode(enrolled.secret)
  })
  const askKey = () => owner.post('/mfa/keys/options').send({ method: 'passkey' })
  const { publicKey } = (await sendApproved(owner, askKey, byApp)).body
  await owner
    .post('/mfa/keys')
    .send({ method: 'passkey', response: device.create(publicKey, KEY_PAGE), name: 'Key' })
  await mfa.account.reset(victim, { by: 'staff-7', reason: 'Lost phone' })

  // Another user asks for the same.
  const other = jsonAgent(app)
  await login(other, 'other').expect(200)
  for (const path of [
    '/mfa',
    '/mfa?choose',
    '/mfa/verify',
    '/mfa/backup',
    '/mfa/keys',
    '/mfa/devices',
    '/secret',
  ])
    search('answer to another user', (await other.get(path)).text)
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const foreign = new URLSearchParams({ User: VICTIM.email, Type: 'EMAIL', Code: '000000' })
  for (const path of ['/v1/mfa', '/v1/mfa/verify', '/v1/mfa/factors', '/v1/key']) {
    const request = { method: 'POST', headers: bearer('a_key_of_nobody_0123456789'), body: foreign }
    search('answer to another user', await (await fetch(server.url + path, request)).text())
  }

  // Everything that can fail does.
  const failed = async (work: () => unknown) => {
    try {
      await work()
    } catch (error) {
      search('error', error)
      return
    }
    throw new Error('Nothing failed.')
  }
  await fetch(`${server.url}/v1/unknown/${VICTIM.email}`, { headers: bearer(API_KEY) })
  await fetch(`${server.url}/v1/mfa/deliveries/${VICTIM.email}`, { headers: bearer(API_KEY) })
  const client = mfaClient({ baseUrl: server.url, apiKey: API_KEY })
  const nobody = mfaClient({ baseUrl: 'http://127.0.0.1:1', apiKey: API_KEY })
  const contact = { kind: 'email', email: VICTIM.email } as const
  await failed(() => nobody.send({ method: 'email', contact }))
  await failed(() => client.send({ method: 'sms', contact: { kind: 'phone', phone: '447700900787' } }))
  await failed(() => client.send({ method: 'sms', contact }))
  await failed(() => createService({ secret: SECRET, apiKey: `${API_KEY} `, delivery: 'inbox' }))
  const unknown = { application: 'default', mode: 'live', user: STRANGER, isAccount: false } as const
  await failed(() => operator.showUser(unknown))
  await failed(() =>
    operator.disableFactor({ application: 'none', mode: 'live', user: VICTIM.email, isAccount: false }, 'x'),
  )
  for (let guess = 0; guess < 12; guess++)
    await service.mfa.verify({ method: 'email', contact, kind: 'code', code: '000000' })

  // The places that an operator, a program or a debugger can look at.
  for (const shown of [
    mfa,
    client,
    made.mfa.factors,
    new MfaStrategy(made.mfa),
    mfaSession(made.mfa),
    service,
    made.failures,
  ])
    search('inspect', shown)
  search('metrics', mfa.metrics())
  const metrics = await fetch(`${server.url}/metrics`, { headers: bearer(METRICS_KEY) })
  search('metrics', await metrics.text())
  await operator.find(VICTIM.email)
  await operator.events.deliveries({ application: 'default', endpoint }, 9)
  await vi.waitFor(() => {
    if (receiver.events.length === 0) throw new Error('no event yet')
  }, PATIENCE_MS)
  for (const { body } of receiver.requests) search('event', body)
  await Promise.all([client.close(), nobody.close(), receiver.close(), server.close()])
  await service.close()
  for (const span of spans?.() ?? []) search('trace', span)
  if (database) search('database', await dumpTables(database))
  search('database', await place.dump())
  if (databaseLog) search('database log', await databaseLog())
  place.close()
}
