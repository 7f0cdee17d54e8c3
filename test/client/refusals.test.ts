import { describe, expect, it } from 'vitest'
import type { HttpService } from '../../src/client/service.js'
import { everyCase } from '../kit/every-case.js'
import { BOBS_CODE, errorCode, failure, pair, verdict } from './ask.js'
import { answer, type Behaviour } from './hostile-service.js'

const KEY = 'ERR_MFA_SERVICE_KEY'
const REQUEST = 'ERR_MFA_SERVICE_REQUEST'
const DOWN = 'ERR_MFA_SERVICE_UNAVAILABLE'
const bearer = { 'WWW-Authenticate': 'Bearer realm="mfa", error="invalid_token"' }
const { contact } = BOBS_CODE

const verbs: Record<string, (client: HttpService) => Promise<unknown>> = {
  send: (client) => client.send({ method: 'sms', contact }),
  verify: (client) => client.verify(BOBS_CODE),
  enrollApp: (client) => client.enrollApp({ contact }),
  sendBackupCodes: (client) => client.sendBackupCodes({ method: 'sms', contact }),
}

describe('a 429 because of other requests of the account', () => {
  it('makes every call fail as one that did nothing, not as a lock (R139)', () =>
    everyCase(Object.entries(verbs), async ([_verb, ask]) => {
      const { client } = await pair(answer(429, { code: 'account_busy' }, { 'Retry-After': '3' }))
      await expect(ask(client)).rejects.toMatchObject({
        code: 'ERR_MFA_SERVICE_BUSY',
        status: 503,
        retryAfterSeconds: 3,
        effect: 'none',
      })
    }))
})

describe('a 401 of verify for an app code', () => {
  const asked = async (body: object, method: 'app' | 'sms' = 'app') => {
    const { client } = await pair(answer(401, body))
    return client.verify({ ...BOBS_CODE, method })
  }
  it('reports how old the code is, if the Countersign service does', async () => {
    const problem = { code: 'invalid_code', clock_steps: -8 }
    expect(await asked(problem)).toEqual({ outcome: 'invalid', clockSteps: -8 })
    expect(await asked(problem, 'sms')).toEqual({ outcome: 'invalid' })
  })

  it('is only a wrong code if its headers do not say that the key is wrong', () =>
    everyCase(
      [
        { clock_steps: -8 },
        { code: 'invalid_code', clock_steps: '-8' },
        { code: 'invalid_code', clock_steps: 1e9 },
      ],
      async (body) => expect(await asked(body)).toEqual({ outcome: 'invalid' }),
    ))
})

describe('a 200 of verify', () => {
  it('that says how many backup codes are left is read strictly', () =>
    everyCase(
      [
        [2, { backupCodesLeft: 2 }],
        [0, { backupCodesLeft: 0 }],
        [-1, {}],
        ['2', {}],
        [1.5, {}],
      ],
      async ([backup_codes_left, reported]) => {
        const { client } = await pair(answer(200, { valid: true, type: 'EMAIL', backup_codes_left }))
        expect(await client.verify({ ...BOBS_CODE, kind: 'backup' })).toEqual({
          outcome: 'valid',
          ...reported,
        })
      },
    ))
})

describe('a 401 of verify', () => {
  it.each<[string, Behaviour, string]>([
    ['that says nothing else is a wrong code', answer(401), 'invalid'],
    ['with a page is a wrong code', answer(401, '<h1>401</h1>', { 'Content-Type': 'text/html' }), 'invalid'],
    ['with JSON is a wrong code', answer(401, { message: 'Invalid code' }), 'invalid'],
    ['with our own problem is a wrong code', answer(401, { code: 'invalid_code' }), 'invalid'],
    ['with WWW-Authenticate is about the key', answer(401, {}, bearer), KEY],
    ['that names the key is about the key', answer(401, { code: 'invalid_api_key' }), KEY],
    ['that names the code is about the code', answer(401, { code: 'invalid_code' }, bearer), 'invalid'],
  ])('%s', async (_title, behaviour, expected) => {
    const { client } = await pair(behaviour)
    expect(await verdict(client)).toBe(expected)
  })
})

describe.each(Object.entries(verbs))('%s', (verb, ask) => {
  it('fails closed when the service answers oddly (R77)', () =>
    everyCase<[string, Behaviour, string]>(
      [
        ['403', answer(403, 'forbidden'), KEY],
        ['400', answer(400, { message: 'bad' }), REQUEST],
        ['404', answer(404, '<h1>Not found</h1>', { 'Content-Type': 'text/html' }), REQUEST],
        ['405', answer(405), REQUEST],
        ['415', answer(415), REQUEST],
        ['422', answer(422, {}), REQUEST],
        ['500', answer(500, 'oops'), DOWN],
        ['502', answer(502, '<h1>Bad gateway</h1>', { 'Content-Type': 'text/html' }), DOWN],
        ['503', answer(503, { valid: true }, { 'Retry-After': '5' }), DOWN],
        ['504', answer(504), DOWN],
      ],
      async ([_status, behaviour, expected]) => {
        const { client, service } = await pair(behaviour)
        expect(await ask(client).then(() => 'answered', errorCode)).toBe(expected)
        expect(service.calls).toHaveLength(1)
      },
    ))

  if (verb !== 'verify')
    it('treats every 401 as a wrong key', async () => {
      const { client } = await pair(answer(401))
      expect((await failure(ask(client))).code).toBe(KEY)
    })

  it('hears the refusal in a problem of our own service', () =>
    everyCase(['factor_disabled', 'method_off', 'contact_refused', 'delivery_failed'], async (code) => {
      const { client } = await pair(answer(422, { code }))
      expect(await ask(client)).toEqual({ outcome: 'refused', refusal: { reason: code } })
    }))

  it('reports a 429 as too many codes for verify, and as too many messages otherwise', async () => {
    const { client } = await pair(answer(429, 'slow down', { 'Retry-After': '30' }))
    const reason = verb === 'verify' ? 'locked' : 'limited'
    expect(await ask(client)).toEqual({ outcome: 'refused', refusal: { reason, retryAfterSeconds: 30 } })
  })

  it('reports that the account is locked, and for how long (R27)', async () => {
    const { client } = await pair(answer(429, { code: 'locked' }, { 'Retry-After': '1800' }))
    const refusal = { reason: 'locked', retryAfterSeconds: 1_800 }
    expect(await ask(client)).toEqual({ outcome: 'refused', refusal })
  })
})

describe('the wait that a 429 asks for', () => {
  const inFiveSeconds = () => new Date(Date.now() + 5_000).toUTCString()
  it('is read from seconds and dates', () =>
    everyCase<[string, string | undefined | (() => string), number, number]>(
      [
        ['nothing: a minute', undefined, 60, 60],
        ['seconds', '17', 17, 17],
        ['zero: at least one second', '0', 1, 1],
        ['an HTTP date', inFiveSeconds, 3, 6],
        ['a date that is past: at least one second', 'Wed, 21 Oct 2015 07:28:00 GMT', 1, 1],
        ['more than the longest lock: a day', '999999999', 86_400, 86_400],
        ['a date centuries away: a day', 'Fri, 31 Dec 9999 23:59:59 GMT', 86_400, 86_400],
        ['a number too long to be one: a day', '99999999999999999999', 86_400, 86_400],
        ['a negative number: a minute', '-5', 60, 60],
        ['a fraction: a minute', '1.5', 60, 60],
        ['nonsense: a minute', 'soon', 60, 60],
      ],
      async ([_title, given, least, most]) => {
        // A date is written when the test runs, which may be long after this file was loaded.
        const header = typeof given === 'function' ? given() : given
        const { client } = await pair(answer(429, '', header === undefined ? {} : { 'Retry-After': header }))
        const answered = await client.verify(BOBS_CODE)
        if (answered.outcome !== 'refused' || answered.refusal.reason !== 'locked')
          throw new Error('not locked')
        expect(answered.refusal.retryAfterSeconds).toBeGreaterThanOrEqual(least)
        expect(answered.refusal.retryAfterSeconds).toBeLessThanOrEqual(most)
      },
    ))
})
