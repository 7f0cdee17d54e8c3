import type { LookupFunction } from 'node:net'
import type { MfaEvent, MfaStatus } from 'countersign'
import { maskContact, WEBHOOK_EVENT_TYPES } from 'countersign/protocol'
import { addKey, signInWithKey, softwareAuthenticator } from 'countersign/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { approve, BILL, payments } from '../../../test/approvals/kit.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { jsonAgent } from '../../../test/kit/host.js'
import { challenge, login, verify } from '../../../test/kit/sign-in.js'
import { appImporter } from '../../src/flows/in-process-service.js'
import { recordReport } from '../../src/messages/delivery/report-table.js'
import { eventSender } from '../../src/messages/event-delivery/event-sender.js'
import { takeDueEvents } from '../../src/messages/event-delivery/event-table.js'
import { diagnoseStore } from '../../src/operator/diagnose-store.js'
import { operator } from '../../src/operator/operator.js'
import { deleteExpired } from '../../src/operator/retention.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import type { Store } from '../../src/store/store.js'
import type { LogEvent } from '../../src/telemetry/log/logger.js'
import { describeOnBothDatabases } from '../both-databases.js'
import {
  advance,
  appCode,
  DeliveryError,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  rejection,
  SECRET,
  stopClock,
} from '../kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from '../software-key.js'
import { eventReceiver } from './event-receiver.js'

const HOUR = 3_600
const DAY = 24 * HOUR

beforeEach(() => stopClock())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

describeOnBothDatabases((bench) => {
  /** An application with an endpoint, and a sender that posts when the test says so. */
  async function fresh(types: readonly string[] = WEBHOOK_EVENT_TYPES) {
    const tenant = freshTenant(bench(), { relyingParty: RELYING_PARTY })
    const application = tenant.application.id
    const ops = operator(bench().store, 'ann', { keys: () => deriveKeys(SECRET) })
    await ops.createApplication(application)
    const receiver = await eventReceiver()
    onTestFinished(receiver.close)
    const { id: endpoint, secret } = await ops.events.create(application, { url: `${receiver.url}/e`, types })
    receiver.state.secrets = [secret]
    const log: LogEvent[] = []
    const { store } = bench()
    const sender = eventSender({
      ...{ store, keys: deriveKeys(SECRET), log: (event) => void log.push(event) },
      timeoutMs: 2_000,
    })
    onTestFinished(sender.close)
    const reference = { application, endpoint }
    return {
      ...tenant,
      ...{ name: application, ops, receiver, reference, secret, sender, log },
      deliveries: () => ops.events.deliveries(reference, 100),
      /** Posts what is due, and returns what arrived. */
      async posted() {
        receiver.events.length = 0
        await sender.poll()
        return [...receiver.events]
      },
      endpoint: async () => (await ops.events.list(application))[0],
    }
  }
  type Fresh = Awaited<ReturnType<typeof fresh>>

  /** Writes an event by revoking a key. */
  async function revokeKey({ ops, name }: Fresh): Promise<string> {
    const { id } = await ops.createKey(name, { mode: 'live', label: 'web' })
    await ops.revokeKey(name, id)
    return id
  }

  describe('an event', () => {
    test('says which factor was added or removed, and by whom, without secrets and full contacts', async () => {
      const own = await fresh()
      const { mfa, ops, name } = own
      const mailbox = freshEmail()
      const user = { account: 'user 7', contact: freshEmail() }
      const app = await mfa.enrollApp(user)
      const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
      await mfa.verify({ method: 'app', kind: 'confirm', code: appCode(secret), ...user })
      const { answer } = await registerSoftwareKey(mfa, user, 'passkey')
      const key = 'key' in answer ? answer.key.id : ''
      await mfa.sendBackupCodes({ method: 'email', ...user })
      await mfa.createBackupCodes?.({ account: mailbox.email, contact: mailbox })
      await mfa.removeFactor?.({ factor: 'app', ...user })
      await ops.removeUserKey({ application: name, mode: 'live', user: 'user 7', isAccount: true }, key)
      const bind = appImporter(bench().context, async () => own.application)
      await bind({ contact: mailbox, secret: 'A'.repeat(32) })

      const posted = await own.posted()
      const reference = expect.stringMatching(/^[0-9a-f]{12}$/)
      const seven = { account: 'user 7', reference }
      const masked = maskContact(mailbox)
      const expected = [
        ['factor.added', seven, { factor: 'APP', by: 'user' }],
        ['factor.added', seven, { factor: 'BACKUP', by: 'user' }],
        ['factor.added', seven, { factor: 'PASSKEY', key, by: 'user' }],
        ['factor.added', { account: masked, reference }, { factor: 'BACKUP', by: 'user' }],
        ['factor.added', { contact: masked, reference }, { factor: 'APP', by: 'operator' }],
        ['factor.removed', seven, { factor: 'APP', by: 'user' }],
        ['factor.removed', seven, { factor: 'PASSKEY', key, by: 'operator' }],
      ].map(([type, user, data]) => ({ type, data: { application: name, user, ...Object(data) } }))
      expect(posted).toHaveLength(expected.length)
      for (const event of expected) expect(posted).toContainEqual(expect.objectContaining(event))
      const bodies = own.receiver.requests.map(({ body }) => body).join()
      for (const hidden of [secret, mailbox.email, user.contact.email, own.secret])
        expect(bodies).not.toContain(hidden)
    })

    test('of an approval has the id of the receipt, of the events of the app and of the log, also with a key (R121, R124)', async () => {
      const own = await fresh(['approval.given'])
      const emitted: MfaEvent[] = []
      const options = { service: own.mfa, onEvent: (event: MfaEvent) => void emitted.push(event) }
      const { app, done } = payments(undefined, { options })
      const agent = jsonAgent(app)
      await login(agent, 'bob').expect(200)
      await challenge(agent, 'sms').expect(200)
      await verify(agent, own.lastCode()).expect(200)
      const authenticator = softwareAuthenticator()
      let ofKey = ''
      const approveKey = async (id: string) => {
        ofKey = id
        await agent.post('/mfa/challenge').send({ factor: 'sms', approval: id }).expect(200)
        await agent.post('/mfa/verify').send({ code: own.lastCode(), approval: id }).expect(200)
      }
      await addKey(agent, { authenticator, ...KEY_PAGE, approve: approveKey })
      const pay = () => agent.post('/pay').send(BILL)
      await approve({ standIn: { newestCode: own.lastCode } }, agent, pay)
      await pay().expect(200)
      const approval = (await pay().expect(401)).body.approval.id
      await signInWithKey(agent, { authenticator, approval, ...KEY_PAGE })
      await pay().expect(200)

      const receipts = done.map(({ approval }) => approval as NonNullable<MfaStatus['approval']>)
      const ids = receipts.map(({ id }) => id)
      expect(new Set(ids).size).toBe(2)
      expect(ids[1]).toBe(approval)
      const emittedIds = (type: 'approved' | 'approval_used') =>
        emitted.flatMap((event) => (event.type === type ? [event.approval] : []))
      expect(emittedIds('approved')).toEqual([ofKey, ...ids])
      expect(emittedIds('approval_used')).toEqual(ids)
      const logged = bench().events.filter((line) => line.application === own.name && line.approval)
      expect(logged.map(({ event, factor, approval: id }) => [event, factor, id])).toEqual([
        ['send.sent', 'sms', ofKey],
        ['verify.succeeded', 'PHONE', ofKey],
        ['send.sent', 'sms', ids[0]],
        ['verify.succeeded', 'PHONE', ids[0]],
        ['verify.succeeded', 'PASSKEY', ids[1]],
      ])
      const posted = (await own.posted()).map(({ data }) => Reflect.get(data, 'approval'))
      const digest = expect.stringMatching(/^[\w-]{43}$/)
      const given = [{ id: ofKey, digest }, ...receipts.map(({ id, digest }) => ({ id, digest }))]
      expect(posted).toHaveLength(given.length)
      expect(posted).toEqual(expect.arrayContaining(given))
    })

    test('says that a user approved a request, with the id of the application (R124)', async () => {
      const own = await fresh(['approval.given'])
      const user = { account: 'user 7', contact: freshPhone() }
      const digest = 'A'.repeat(43)
      const asked = {
        transaction: 'approval-1',
        approval: { digest, lines: [{ label: 'To', value: 'Ana' }] },
      }
      await own.mfa.send({ method: 'sms', purpose: 'approval', ...asked, ...user })
      const code = own.lastCode()
      const sent = { method: 'sms', kind: 'code', ...asked, ...user } as const
      await own.mfa.verify({ ...sent, code: code === '000000' ? '111111' : '000000' })
      await own.mfa.verify({ ...sent, code })
      const { device } = await registerSoftwareKey(own.mfa, user, 'passkey')
      const ceremony = { ...asked, ...user, method: 'passkey', purpose: 'approval' } as const
      const options = await optionsIn(keysOf(own.mfa).authenticationOptions(ceremony))
      await keysOf(own.mfa).authenticate({ ...ceremony, response: device.get(options, KEY_PAGE) })
      const backup = await own.mfa.createBackupCodes?.(user)
      const typed = backup && 'codes' in backup ? (backup.codes[0] ?? '') : ''
      await own.mfa.verify({ ...sent, kind: 'backup', code: typed, transaction: 'approval-2' })
      const posted = await own.posted()
      expect(posted.map(({ type }) => type)).toEqual(Array(3).fill('approval.given'))
      for (const [id, factor] of [
        ['approval-1', 'PHONE'],
        ['approval-1', 'PASSKEY'],
        ['approval-2', 'BACKUP'],
      ]) {
        expect(posted.map(({ data }) => data)).toContainEqual({
          application: own.name,
          user: { account: 'user 7', reference: expect.any(String) },
          approval: { id, digest },
          factor,
        })
      }
    })

    test.each(['code', 'confirm'] as const)(
      'says that a user was locked by a wrong %s, once, and that an API key was revoked',
      async (kind) => {
        const own = await fresh()
        const contact = freshPhone()
        const attempts = Array.from({ length: 14 }, () =>
          own.mfa.verify({ method: 'app', contact, kind, code: '000000' }),
        )
        await Promise.all(attempts)
        const key = await revokeKey(own)
        const [locked, revoked, ...others] = (await own.posted()).toSorted((a, b) =>
          a.type < b.type ? 1 : -1,
        )
        expect(others).toEqual([])
        expect(locked).toEqual({
          id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
          type: 'user.locked',
          timestamp: new Date().toISOString(),
          data: {
            application: own.name,
            user: { contact: maskContact(contact), reference: expect.any(String) },
            locked_until: new Date(Date.now() + 1_800_000).toISOString(),
          },
        })
        expect(revoked).toMatchObject({
          type: 'key.revoked',
          data: { application: own.name, key: { id: key, mode: 'live', label: 'web' } },
        })
      },
    )

    test('says which message arrived and which did not, whatever found out', async () => {
      const own = await fresh(['message.delivered', 'message.failed'])
      const { store } = bench()
      const contact = freshPhone()
      const send = async (...failures: DeliveryError[]) => {
        bench().failNext(...failures)
        const challenge = await own.mfa.send({ method: 'sms', contact: freshPhone() })
        const [row] = await store.query<{ id: string }>(
          'SELECT id FROM outbox WHERE application = $1 ORDER BY created_at DESC, updated_at DESC LIMIT 1',
          [own.name],
        )
        advance(1)
        return { id: row?.id ?? '', challenge: 'challenge' in challenge ? challenge.challenge : '' }
      }
      const report = (id: string, outcome: 'delivered' | 'failed') =>
        recordReport(store, { application: own.name, id, outcome }, Date.now())
      const arrived = await send()
      await report(arrived.id, 'delivered')
      await report(arrived.id, 'delivered')
      const bounced = await send()
      await report(bounced.id, 'failed')
      const refused = await send(new DeliveryError('no such number', 'contact'))
      const late = await send(new DeliveryError('down', 'outage'))
      expect(contact.kind).toBe('phone')
      advance(HOUR)
      await bench().context.outbox.poll()

      const posted = await own.posted()
      const about = (message: string) =>
        posted.flatMap((event) =>
          'message' in event.data && event.data.message.id === message
            ? [[event.type, event.data.message.reason]]
            : [],
        )
      expect(about(arrived.id)).toEqual([['message.delivered', undefined]])
      expect(about(bounced.id)).toEqual([['message.failed', undefined]])
      expect(about(refused.id)).toEqual([['message.failed', 'contact']])
      expect(about(late.id)).toEqual([['message.failed', 'outage']])
      expect(posted).toHaveLength(4)
      expect(posted.find(({ data }) => 'message' in data && data.message.id === arrived.id)?.data).toEqual({
        application: own.name,
        user: expect.objectContaining({ contact: expect.stringMatching(/^••• \d\d$/) }),
        message: {
          id: arrived.id,
          challenge: arrived.challenge,
          channel: 'sms',
          to: expect.stringMatching(/^••• \d\d$/),
          carrier: 'recording',
        },
      })
    })

    test('is not written for other types, other applications, test keys and applications without an endpoint', async () => {
      const [own, other] = [await fresh(['user.locked']), await fresh()]
      await revokeKey(own)
      const lock = async (tenant: Pick<Fresh, 'mfa'>) => {
        const contact = freshPhone()
        for (let count = 0; count < 10; count++)
          await tenant.mfa.verify({ method: 'app', contact, kind: 'code', code: '000000' })
      }
      await lock(freshTenant(bench(), { ...own.application, id: `${own.name}/test`, mode: 'test' }))
      await lock(freshTenant(bench()))
      expect([await own.posted(), await other.posted()]).toEqual([[], []])
      expect(await own.deliveries()).toEqual([])
    })

    test('of a change that is rolled back does not exist, and one whose process dies after the commit is posted', async () => {
      const own = await fresh()
      const { id } = await own.ops.createKey(own.name, { mode: 'live' })
      const { store } = bench()
      const dying: Store = {
        ...store,
        transaction: (work) =>
          store.transaction(async (tx) => {
            await work(tx)
            throw new Error('crashed before the commit')
          }),
      }
      expect((await rejection(operator(dying, 'ann').revokeKey(own.name, id))).message).toContain('crashed')
      expect(await own.posted()).toEqual([])
      await own.ops.revokeKey(own.name, id)
      expect(await own.posted()).toHaveLength(1)
      expect(await own.posted()).toEqual([])
    })
  })

  describe('a delivery', () => {
    test('is repeated with the same id and growing waits for more than a day, then given up, and can be resent', async () => {
      const own = await fresh()
      await revokeKey(own)
      own.receiver.state.status = 500
      own.receiver.state.body = `no\0 ${'x'.repeat(100_000)}`
      const waits: number[] = []
      for (;;) {
        await own.sender.poll()
        const [delivery] = await own.deliveries()
        if (delivery?.state !== 'queued') break
        const [row] = await bench().store.query<{ due_at: number }>(
          'SELECT due_at FROM event_delivery WHERE application = $1',
          [own.name],
        )
        const wait = (row?.due_at ?? 0) - Date.now()
        vi.setSystemTime(Date.now() + wait - 1)
        await own.sender.poll()
        expect(own.receiver.requests).toHaveLength(waits.length + 1)
        vi.setSystemTime(Date.now() + 1)
        waits.push(wait / 1000)
      }
      expect(waits).toHaveLength(11)
      expect(waits[0]).toBeLessThan(10)
      expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(DAY)
      for (const [index, wait] of waits.slice(0, 8).entries())
        expect(wait).toBeLessThan(waits[index + 1] ?? 0)
      expect(new Set(own.receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(own.receiver.requests.map(({ body }) => body)).size).toBe(1)
      const [delivery] = await own.deliveries()
      expect(delivery).toMatchObject({ state: 'failed', attempts: 12, status: 500 })
      expect(delivery?.answer).toMatch(/^no {2}x{296}$/)
      expect((await own.endpoint())?.state).toBe('active')

      own.receiver.state.status = 200
      const resent = await own.ops.events.resend(own.reference, delivery?.id ?? '')
      expect(resent).toMatchObject({ state: 'delivered', status: 200, id: delivery?.id })
      expect(own.receiver.events).toHaveLength(1)
      expect((await own.endpoint())?.failingSince).toBeNull()
    })

    test('waits as long as the receiver asks for, and a resent event that fails is repeated', async () => {
      const own = await fresh()
      await revokeKey(own)
      Object.assign(own.receiver.state, { status: 429, headers: { 'retry-after': '600' } })
      await own.sender.poll()
      advance(599)
      await own.sender.poll()
      expect(own.receiver.requests).toHaveLength(1)
      advance(1)
      await own.sender.poll()
      expect(own.receiver.requests).toHaveLength(2)
      const [queued] = await own.deliveries()
      const resent = await own.ops.events.resend(own.reference, queued?.id ?? '')
      expect(resent).toMatchObject({ state: 'queued', status: 429 })
      Object.assign(own.receiver.state, { status: 200 })
      advance(1_000)
      expect(await own.posted()).toHaveLength(1)
    })

    test('that a process took and did not finish is made by another one after its lease, and once by two at a time', async () => {
      const own = await fresh()
      for (let count = 0; count < 25; count++) await revokeKey(own)
      await takeDueEvents(bench().store, Date.now(), { busy: [], perEndpoint: 3, limit: 3 })
      const { store } = bench()
      const second = eventSender({ store, keys: deriveKeys(SECRET), log: () => {} })
      await Promise.all([own.sender.poll(), second.poll()])
      expect(own.receiver.events).toHaveLength(22)
      advance(31)
      await Promise.all([own.sender.poll(), second.poll()])
      await second.close()
      const ids = own.receiver.events.map(({ id }) => id)
      expect([ids.length, new Set(ids).size]).toEqual([25, 25])
    })

    test('to a silent endpoint ends with its deadline, and does not hold up another one', async () => {
      const [silent, own] = [await fresh(), await fresh()]
      silent.receiver.state.silent = true
      for (let count = 0; count < 30; count++) await revokeKey(silent)
      await revokeKey(own)
      const polling = own.sender.poll()
      await eventually(() => expect(own.receiver.events).toHaveLength(1))
      expect(silent.receiver.events).toEqual([])
      await polling
      const answers = (await silent.deliveries()).map(({ state, status, answer }) => [state, status, answer])
      expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(
        new Set([JSON.stringify(['queued', null, 'The endpoint did not respond (timeout).'])]),
      )
    })

    test('follows no redirect', async () => {
      const own = await fresh()
      Object.assign(own.receiver.state, { status: 307, headers: { location: '/elsewhere' } })
      const result = await own.ops.events.test(own.reference)
      expect(result).toMatchObject({ state: 'failed', status: 307 })
      expect(own.receiver.requests).toHaveLength(1)
    })

    test('is not made to a name that resolves to an internal address (R87)', () =>
      everyCase(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:127.0.0.1'], async (address) => {
        const own = await fresh()
        const { id } = await own.ops.events.create(own.name, {
          url: 'https://rebound.test/e',
          types: ['key.revoked'],
        })
        await revokeKey(own)
        const lookup: LookupFunction = (_name, options, done) => {
          const family = address.includes(':') ? 6 : 4
          if (options.all) done(null, [{ address, family }])
          else done(null, address, family)
        }
        const { store } = bench()
        const sender = eventSender({ store, keys: deriveKeys(SECRET), log: () => {}, lookup })
        await sender.poll()
        await sender.close()
        const [delivery] = await own.ops.events.deliveries({ application: own.name, endpoint: id }, 1)
        expect(delivery).toMatchObject({
          state: 'queued',
          status: null,
          answer: 'The endpoint has an address that is not public.',
        })
      }))

    test('is not made to this machine in production, even if its address was set before (R87)', async () => {
      const own = await fresh()
      vi.stubEnv('NODE_ENV', 'production')
      await revokeKey(own)
      await own.sender.poll()
      expect(own.receiver.requests).toEqual([])
      const [delivery] = await own.deliveries()
      expect(delivery?.answer).toBe('The address of the endpoint is not allowed.')
    })

    test('is kept for seven days, exported with its account, and erased with it (R104)', async () => {
      const own = await fresh()
      await revokeKey(own)
      const user = { account: 'user 9', contact: freshEmail() }
      await own.mfa.createBackupCodes?.(user)
      await own.sender.poll()
      const nine = { application: own.name, mode: 'live', user: 'user 9', isAccount: true } as const
      expect((await own.ops.exportUser(nine)).events).toMatchObject([
        { type: 'factor.added', endpoint: own.reference.endpoint, status: 'delivered' },
      ])
      await own.ops.eraseUser(nine)
      expect((await own.deliveries()).map(({ type }) => type)).toEqual(['key.revoked'])
      advance(7 * DAY - 1)
      await deleteExpired(bench().store)
      expect(await own.deliveries()).toHaveLength(1)
      advance(2)
      await deleteExpired(bench().store)
      expect(await own.deliveries()).toEqual([])
    })
  })

  describe('an endpoint', () => {
    test('that is paused keeps its events until it is resumed, and can be tested meanwhile', async () => {
      const own = await fresh()
      await own.ops.events.pause(own.reference)
      await revokeKey(own)
      expect(await own.posted()).toEqual([])
      expect(await own.ops.events.test(own.reference)).toMatchObject({ state: 'delivered', status: 204 })
      expect(own.receiver.events).toMatchObject([{ type: 'webhook.test', data: { application: own.name } }])
      expect(await own.endpoint()).toMatchObject({ state: 'paused', queued: 1 })
      await own.ops.events.resume(own.reference)
      expect(await own.posted()).toMatchObject([{ type: 'key.revoked' }])
      expect(await own.endpoint()).toMatchObject({ state: 'active', queued: 0 })
    })

    test('is disabled after three days without an accepted event, with a finding, and gets what waits when it is resumed', async () => {
      const own = await fresh()
      own.receiver.state.status = 503
      const findings = async () =>
        (await diagnoseStore(bench().store, deriveKeys(SECRET), { production: false }))
          .filter(({ subject, message }) => subject === 'webhooks' && message.includes(own.name))
          .map(({ severity, message }) => `${severity} ${message}`)
      await revokeKey(own)
      for (let hour = 0; hour < 71; hour++) {
        await own.sender.poll()
        advance(HOUR)
        if (hour % 24 === 23) await revokeKey(own)
      }
      await revokeKey(own)
      expect(await own.endpoint()).toMatchObject({ state: 'active', failingSince: expect.any(Number) })
      expect(await findings()).toEqual([expect.stringContaining('warning')])
      for (let hour = 0; hour < 24 && (await own.endpoint())?.state === 'active'; hour++) {
        await own.sender.poll()
        advance(HOUR)
      }
      expect((await own.endpoint())?.state).toBe('disabled')
      expect(await findings()).toEqual([
        expect.stringMatching(`^error .*${own.reference.endpoint}.*webhook resume ${own.name}`),
      ])
      expect(own.log.filter(({ event }) => event === 'webhook.disabled')).toHaveLength(1)
      const before = own.receiver.requests.length
      await revokeKey(own)
      expect(await own.posted()).toEqual([])
      expect(own.receiver.requests).toHaveLength(before)
      own.receiver.state.status = 200
      await own.ops.events.resume(own.reference)
      expect((await own.posted()).length).toBeGreaterThan(0)
      expect(await findings()).toEqual([])
    })

    test('that failed long ago and once more is not disabled', async () => {
      const own = await fresh()
      own.receiver.state.status = 503
      await revokeKey(own)
      await own.sender.poll()
      advance(5 * DAY)
      await own.sender.poll()
      expect((await own.endpoint())?.state).toBe('active')
    })

    test('that responds with 410 wants no further events, and gets those from before when it is resumed', async () => {
      const own = await fresh()
      own.receiver.state.status = 410
      await revokeKey(own)
      await own.sender.poll()
      expect(await own.endpoint()).toMatchObject({ state: 'disabled' })
      expect(await own.deliveries()).toMatchObject([{ state: 'queued', status: 410 }])
      advance(HOUR)
      await own.sender.poll()
      expect(own.receiver.requests).toHaveLength(1)
      own.receiver.state.status = 204
      await own.ops.events.resume(own.reference)
      expect(await own.posted()).toHaveLength(1)
    })

    test('has requests with the signatures of both secrets for 24 hours after a rotation', async () => {
      const own = await fresh()
      const { secret } = await own.ops.events.rotateSecret(own.reference)
      const test = async (...secrets: string[]) => {
        own.receiver.state.secrets = secrets
        const { status } = await own.ops.events.test(own.reference)
        return [status, String(own.receiver.requests.at(-1)?.headers['webhook-signature']).split(' ').length]
      }
      expect(await test(own.secret)).toEqual([204, 2])
      expect(await test(secret)).toEqual([204, 2])
      expect((await own.endpoint())?.formerSecretUntil).toBe(Date.now() + DAY * 1000)
      advance(DAY)
      expect(await test(own.secret)).toEqual([401, 1])
      expect(await test(secret, own.secret)).toEqual([204, 1])
    })

    test('has a secret that is shown once, and changes that are in the audit log', async () => {
      const own = await fresh()
      expect(own.secret).toMatch(/^whsec_[\w+/]{43}=$/)
      const { secret } = await own.ops.events.rotateSecret(own.reference)
      await own.ops.events.remove(own.reference)
      expect(await own.ops.events.list(own.name)).toEqual([])
      const log = await own.ops.listAudit({ application: own.name, action: 'endpoint', limit: 10 })
      expect(log.map(({ action }) => action)).toEqual([
        'endpoint.removed',
        'endpoint.secret_rotated',
        'endpoint.created',
      ])
      const stored = await bench().store.query('SELECT * FROM event_endpoint')
      for (const hidden of [own.secret, secret])
        expect(JSON.stringify([log, stored])).not.toContain(hidden.slice(6))
      for (const refused of [
        () => own.ops.events.pause(own.reference),
        () => own.ops.events.test(own.reference),
        () => own.ops.events.deliveries(own.reference, 1),
        () => own.ops.events.resend(own.reference, 'evt_none'),
      ])
        expect((await rejection(refused())).message).toMatch(/has no endpoint|has no event/)
    })

    test('is refused with everything that is wrong with it, and beyond ten of one application', async () => {
      const own = await fresh()
      const error = await rejection(
        own.ops.events.create(own.name, { url: 'http://10.0.0.7/e', types: ['user.born'] }),
      )
      expect(error.message.split('\n')).toEqual([
        expect.stringContaining('"user.born" is not an event: use message.delivered'),
        expect.stringContaining('https://, on port 443 of a public host'),
      ])
      const create = () =>
        own.ops.events.create(own.name, { url: 'https://vault.example/e', types: ['user.locked'] })
      const made = await Promise.allSettled(Array.from({ length: 12 }, create))
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(9)
      expect(await own.ops.events.list(own.name)).toHaveLength(10)
    })
  })
})
