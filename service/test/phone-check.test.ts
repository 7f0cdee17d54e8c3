import { type CountersignService, createService } from '@countersign/service'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { host, jsonAgent } from '../../test/kit/host.js'
import { challenge, login, verify } from '../../test/kit/sign-in.js'
import { PHONE_RISKS } from '../src/messages/carriers/phone-check.js'
import { diagnosePhoneCheck } from '../src/operator/diagnose-sending.js'
import { openStore } from '../src/store/open.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { webhookReceiver } from './delivery/webhook-receiver.js'
import { API_KEY, appCode, eventually, freshEmail, freshPhone, listen, SECRET } from './kit.js'

const CHECK_SECRET = 'shared with the phone check'
const APP_SECRET = 'JBSWY3DPEHPK3PXP'.repeat(2)

/** A service with a phone check, and an app with one user who has a phone, a mailbox and an authenticator app. */
async function opened(whenUnavailable: 'send' | 'refuse') {
  const check = await webhookReceiver(CHECK_SECRET)
  onTestFinished(check.close)
  const events: LogEvent[] = []
  const service: CountersignService = await createService({
    ...{ dataDir: 'memory://', secret: SECRET, apiKey: API_KEY, delivery: 'inbox', transcriber: 'off' },
    phoneCheck: { url: `${check.url}/risk`, secret: CHECK_SECRET, whenUnavailable },
    logger: (event) => void events.push(event),
  })
  const server = await listen(service.api)
  onTestFinished(async () => {
    await server.close()
    await service.close()
  })
  const post = async (path: string, parameters: Record<string, string>, key = API_KEY) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: new URLSearchParams(parameters),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const answer = (body: string, status = 200) => Object.assign(check.state, { body, status, silent: false })
  return {
    ...{ check, service, server, events, post, answer },
    send: (User: string, Type = 'SMS', more = {}) => post('/v1/mfa', { User, Type, ...more }),
    asked: () => check.requests.map(({ body }) => JSON.parse(body)),
    inbox: async (to: string) => (await service.inbox?.messages({ to })) ?? [],
    metrics: async () => (await fetch(`${server.url}/metrics`)).text(),
  }
}

describe('the phone check (R155)', () => {
  test('is asked with number and purpose, signed, before codes go to a phone, and about nothing else', async () => {
    const { answer, send, post, asked, inbox, service } = await opened('refuse')
    answer('{"result":"ok"}')
    const [{ phone }, { email }] = [freshPhone(), freshEmail()]
    expect((await send(phone)).status).toBe(200)
    expect((await send(`${email}:${phone}`, 'DUAL', { Purpose: 'step-up' })).status).toBe(200)
    expect((await post('/v1/mfa/backup', { User: phone, Type: 'SMS' })).status).toBe(200)
    expect((await send(email, 'EMAIL')).status).toBe(200)
    const { key } = await service.operator('ann').createKey('default', { mode: 'test' })
    expect((await post('/v1/mfa', { User: phone, Type: 'SMS' }, key)).status).toBe(200)
    expect(asked()).toEqual([
      { number: phone, purpose: 'sign-in' },
      { number: phone, purpose: 'step-up' },
      { number: phone, purpose: 'backup-codes' },
    ])
    expect(await inbox(phone)).not.toEqual([])
  })

  test('refuses the number for each of its risks, and sends and counts nothing', async () => {
    const { answer, send, post, inbox, metrics, events, service } = await opened('send')
    await everyCase(PHONE_RISKS, async (risk) => {
      answer(JSON.stringify({ result: risk }))
      const { phone } = freshPhone()
      for (const Type of ['SMS', 'WHATSAPP', 'CALL']) {
        const refused = await send(phone, Type)
        expect(refused).toMatchObject({ status: 422, body: { code: 'phone_at_risk' } })
        expect(refused.body.detail).toContain(risk)
      }
      expect((await send(`${freshEmail().email}:${phone}`, 'DUAL')).body.code).toBe('phone_at_risk')
      expect((await post('/v1/mfa/backup', { User: phone, Type: 'SMS' })).body.code).toBe('phone_at_risk')
      expect(await inbox(phone)).toEqual([])
      expect(await metrics()).toContain(
        `countersign_phone_checks_total{application="default",outcome="${risk}"} 5`,
      )
      // The budget of the number is untouched: its next code is sent at once.
      answer('{"result":"ok"}')
      expect((await send(phone)).status).toBe(200)
    })
    expect(JSON.stringify(events)).not.toContain('+44')
    await eventually(async () => {
      const { countries } = await service.operator('ann').showActivity({ period: 'hour' })
      expect(countries).toMatchObject([{ name: 'GB', checked: 30, risky: 25, unchecked: 0 }])
    })
  })

  test('that gives no valid answer sends or refuses the code, as declared', async () => {
    const troubles: Partial<Awaited<ReturnType<typeof webhookReceiver>>['state']>[] = [
      { silent: true },
      ...[500, 401, 302, 201].map((status) => ({ status })),
      ...['ok', '', '[{"result":"ok"}]', '{"result":"fine"}', '{"__proto__":{"result":"ok"}}'].map(
        (body) => ({ body }),
      ),
      { secret: 'another secret than that of the service' },
    ]
    await everyCase(['send', 'refuse'] as const, async (whenUnavailable) => {
      const { check, answer, send, inbox, events, metrics } = await opened(whenUnavailable)
      for (const trouble of troubles) {
        answer('{"result":"ok"}')
        Object.assign(check.state, { secret: CHECK_SECRET }, trouble)
        const { phone } = freshPhone()
        const { status, body } = await send(phone)
        const isSent = whenUnavailable === 'send'
        expect({ status, code: body.code }).toEqual(
          isSent ? { status: 200, code: undefined } : { status: 502, code: 'delivery_failed' },
        )
        expect(await inbox(phone)).toHaveLength(isSent ? 1 : 0)
        const [failed] = events.filter(({ event }) => event === 'phone_check.failed').slice(-1)
        expect(failed?.detail).toMatch(isSent ? /The code is sent\.$/ : /The code is refused\.$/)
      }
      expect(await metrics()).toContain(
        `countersign_phone_checks_total{application="default",outcome="failed"} ${troubles.length}`,
      )
    })
  })

  test('that refuses a number leaves the user the other factors, and costs no attempt', async () => {
    const { answer, server, service } = await opened('refuse')
    const [{ phone }, { email }] = [freshPhone(), freshEmail()]
    await service.importApp({ account: 'zoe', contact: { kind: 'email', email }, secret: APP_SECRET })
    const made = host({ options: { service: { baseUrl: server.url, apiKey: API_KEY } } })
    made.users.zoe = { id: 'zoe', email, factors: [{ method: 'sms', phone }] }
    const agent = jsonAgent(made.app)
    await login(agent, 'zoe').expect(200)
    answer('{"result":"recent-sim-change"}')
    for (let time = 0; time < 12; time++) {
      const { body } = await challenge(agent, 'sms').expect(422)
      expect(body.code).toBe('phone_at_risk')
    }
    const { text } = await challenge(agent, 'sms').set('Accept', 'text/html').type('form').redirects(1)
    expect(text).toContain('We can’t send codes to this number right now')
    expect(text).toContain('Use your authenticator app')
    await verify(agent, appCode(APP_SECRET), { factor: 'app' }).expect(200)
  })

  test('is reported by the doctor when it was asked', async () => {
    const store = await openStore({ dataDir: 'memory://', keyId: deriveKeys(SECRET).id })
    onTestFinished(() => store.close())
    const found = async () => diagnosePhoneCheck(store, Date.now())
    expect(await found()).toEqual([])
    const count = (unchecked: number) =>
      store.query(
        `INSERT INTO activity (application, starts_at, method, country, carrier, checked, risky, unchecked)
         VALUES ('', $1, $2, 'GB', '', 10, 2, $3)`,
        [Date.now(), `sms-${unchecked}`, unchecked],
      )
    await count(0)
    expect(await found()).toMatchObject([
      { severity: 'ok', message: expect.stringContaining('refused 2 codes') },
    ])
    await count(3)
    expect(await found()).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('no answer 3 times') },
    ])
  })

  test('needs an address, a secret and a declared behavior without an answer', async () => {
    const faultsOf = async (phoneCheck: object) => {
      const created = createService({
        ...{ secret: SECRET, delivery: 'inbox' },
        phoneCheck: phoneCheck as { url: string; whenUnavailable: 'send' },
      })
      const error = await created.catch((thrown: unknown) => thrown)
      return String(error)
    }
    expect(await faultsOf({ url: 'https://risk.example' })).toMatch(
      /phoneCheck\.whenUnavailable must be send or refuse/,
    )
    expect(await faultsOf({ url: 'https://risk.example', whenUnavailable: 'send' })).toMatch(
      /phoneCheck\.secret is missing/,
    )
    for (const url of ['ftp://risk.example', 'https://a:b@risk.example', 'risk']) {
      const faults = await faultsOf({ url, secret: CHECK_SECRET, whenUnavailable: 'send' })
      expect(faults).toMatch(/phoneCheck\.url must be/)
    }
  })
})
