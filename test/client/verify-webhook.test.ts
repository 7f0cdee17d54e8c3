import { createHmac } from 'node:crypto'
import { verifyWebhook } from 'countersign'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'whsec_plJ3nmyCDGBKInavdOK15jsl'
const NOW = 1_795_000_000
const BODY = '{"type":"user.locked","timestamp":"2026-11-22T12:00:00.000Z","data":{}}'

function signature(secret: string, body = BODY, id = 'evt_1', time = NOW): string {
  const key = Buffer.from(secret.slice(6), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`
}

const signed = (secret = SECRET, time = NOW, body = BODY) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(time),
  'webhook-signature': signature(secret, body, 'evt_1', time),
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW * 1000 }))
afterEach(() => void vi.useRealTimers())

const refusal = expect.objectContaining({ code: 'ERR_MFA_WEBHOOK_SIGNATURE', status: 401 })
const fault = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('verifyWebhook', () => {
  it('accepts the examples of Standard Webhooks', () => {
    const examples = [
      {
        secret: SECRET,
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        time: 1_614_265_330,
        body: '{"test": 2432232314}',
        signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      {
        secret: OTHER,
        id: 'msg_loFOjxBNrRLzqYUf',
        time: 1_731_705_121,
        body: '{"event_type":"ping","data":{"success":true}}',
        signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
      },
    ]
    for (const { secret, id, time, body, signature } of examples) {
      vi.setSystemTime(time * 1000)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(time),
        'webhook-signature': signature,
      }
      expect(verifyWebhook(body, headers, secret)).toEqual({ ...JSON.parse(body), id })
    }
  })

  it('accepts text and bytes, the headers of Node.js and of fetch, and one of several secrets and signatures', () => {
    const event = { id: 'evt_1', ...JSON.parse(BODY) }
    const both = { ...signed(), 'webhook-signature': `v1a,AAAA ${signature(OTHER)} ${signature(SECRET)}` }
    expect(verifyWebhook(BODY, signed(), SECRET)).toEqual(event)
    expect(verifyWebhook(Buffer.from(BODY), new Headers(signed()), [OTHER, SECRET])).toEqual(event)
    expect(verifyWebhook(new TextEncoder().encode(BODY), both, SECRET)).toEqual(event)
    expect(verifyWebhook(BODY, both, [OTHER])).toEqual(event)
  })

  it('refuses another secret, a changed body, id or time, and what is no signature', () => {
    const refused = [
      fault(() => verifyWebhook(BODY, signed(), OTHER)),
      fault(() => verifyWebhook(`${BODY} `, signed(), SECRET)),
      fault(() => verifyWebhook(BODY, { ...signed(), 'webhook-id': 'evt_2' }, SECRET)),
      fault(() => verifyWebhook(BODY, { ...signed(), 'webhook-timestamp': String(NOW + 1) }, SECRET)),
      ...['', 'v1,', 'v1,AAAA', signature(SECRET).slice(3), signature(SECRET).replace('v1', 'v2')].map(
        (text) => fault(() => verifyWebhook(BODY, { ...signed(), 'webhook-signature': text }, SECRET)),
      ),
      fault(() => verifyWebhook(BODY, {}, SECRET)),
    ]
    expect(refused).toEqual(refused.map(() => refusal))
  })

  it('refuses a request that is more than five minutes old or ahead', () => {
    for (const seconds of [-300, 300])
      expect(verifyWebhook(BODY, signed(SECRET, NOW + seconds), SECRET).id).toBe('evt_1')
    for (const time of [NOW - 301, NOW + 301, Number.NaN]) {
      expect(fault(() => verifyWebhook(BODY, signed(SECRET, time), SECRET))).toEqual(refusal)
    }
  })

  it('refuses a signed body that is no event', () => {
    const bodies = ['null', '[]', '[1]', 'true', '7', '"text"', '', 'no JSON', '{"type":']
    const refused = bodies.map((body) => fault(() => verifyWebhook(body, signed(SECRET, NOW, body), SECRET)))
    expect(refused).toEqual(bodies.map(() => refusal))
  })

  it('says what is wrong with a secret or a parsed body, instead of refusing the request', () => {
    for (const secrets of ['', 'whsec_', 'whsec_!!!!', 'mfa_webhook_abc', []]) {
      expect(String(fault(() => verifyWebhook(BODY, signed(), secrets)))).toMatch(/^TypeError: .*whsec_/)
    }
    const parsed: unknown = JSON.parse(BODY)
    expect(
      String(fault(() => Reflect.apply(verifyWebhook, undefined, [parsed, signed(), SECRET]))),
    ).toContain('express.raw')
  })
})
