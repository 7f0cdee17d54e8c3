import { describe, expect, it } from 'vitest'
import { validatedService } from '../../src/client/in-process-service.js'
import type { ServiceAddress } from '../../src/options/service.js'
import type { KeyVerbs } from '../../src/protocol/index.js'
import { everyCase } from '../kit/every-case.js'
import { standInService } from '../kit/stand-in-service.js'
import { failure, pair } from './ask.js'
import { answer, type Behaviour } from './hostile-service.js'

const caller = {
  contact: { kind: 'email', email: 'dora@example.com' },
  account: 'u-1',
  clientAddress: '203.0.113.7',
} as const
const NAMED = 'User=dora%40example.com&Account=u-1&ClientAddress=203.0.113.7'
const response = { id: 'a2V5' }

const wireKey = {
  id: 'a2V5',
  type: 'PASSKEY',
  name: 'Phone',
  backup_eligible: true,
  backed_up: false,
  created_at: '2030-01-01T00:00:00.000Z',
  last_used_at: '2030-01-02T00:00:00.000Z',
}
const key = {
  id: 'a2V5',
  method: 'passkey',
  name: 'Phone',
  backupEligible: true,
  backedUp: false,
  createdAt: Date.UTC(2030, 0, 1),
  lastUsedAt: Date.UTC(2030, 0, 2),
}

async function keysOf(behave: Behaviour, dialect: ServiceAddress['dialect'] | 'detect' = 'countersign') {
  const { client, service } = await pair(behave, { dialect: dialect === 'detect' ? undefined : dialect })
  if (!client.keys) throw new Error('The client has no keys.')
  return { keys: client.keys, service }
}

const authenticate = (keys: KeyVerbs) =>
  keys.authenticate({ ...caller, method: 'passkey', purpose: 'sign-in', transaction: 't-1', response })

describe('the calls for security keys and passkeys', () => {
  it('send what the request says, and return what the answer says', () =>
    everyCase<[string, object, (keys: KeyVerbs) => Promise<unknown>, string, object]>(
      [
        [
          'requests the options of a registration',
          { options: { challenge: 'Y2hhbGxlbmdl', rp: { id: 'example.com' } }, expires_in: 300 },
          (keys) =>
            keys.registrationOptions({
              ...caller,
              method: 'security-key',
              transaction: 't-1',
              userName: 'dora',
            }),
          `POST /v1/mfa/keys/registration/options ${NAMED}&Type=SECURITY_KEY&Transaction=t-1&UserName=dora`,
          {
            outcome: 'prepared',
            options: { challenge: 'Y2hhbGxlbmdl', rp: { id: 'example.com' } },
            expiresInSeconds: 300,
          },
        ],
        [
          'requests the options of a registration without a prompt',
          { options: { challenge: 'Y2hhbGxlbmdl' }, expires_in: 300 },
          (keys) =>
            keys.registrationOptions({
              ...caller,
              method: 'passkey',
              transaction: 't-1',
              mediation: 'conditional',
            }),
          `POST /v1/mfa/keys/registration/options ${NAMED}&Type=PASSKEY&Transaction=t-1&Mediation=conditional`,
          { outcome: 'prepared', options: { challenge: 'Y2hhbGxlbmdl' }, expiresInSeconds: 300 },
        ],
        [
          'registers a key',
          { key: wireKey },
          (keys) =>
            keys.register({ ...caller, method: 'passkey', transaction: 't-1', name: 'Phone', response }),
          `POST /v1/mfa/keys/registration/verify ${NAMED}&Type=PASSKEY&Transaction=t-1&Name=Phone&Response=%7B%22id%22%3A%22a2V5%22%7D`,
          { outcome: 'registered', key },
        ],
        [
          'requests the options of an assertion',
          { options: { challenge: 'Y2hhbGxlbmdl' }, expires_in: 300 },
          (keys) =>
            keys.authenticationOptions({
              ...caller,
              method: 'passkey',
              purpose: 'step-up',
              transaction: 't-1',
            }),
          `POST /v1/mfa/keys/authentication/options ${NAMED}&Type=PASSKEY&Purpose=step-up&Transaction=t-1`,
          { outcome: 'prepared', options: { challenge: 'Y2hhbGxlbmdl' }, expiresInSeconds: 300 },
        ],
        [
          'checks an assertion',
          { valid: true, key: wireKey, user_verified: true },
          authenticate,
          `POST /v1/mfa/keys/authentication/verify ${NAMED}&Type=PASSKEY&Purpose=sign-in&Transaction=t-1&Response=%7B%22id%22%3A%22a2V5%22%7D`,
          { outcome: 'valid', key, userVerified: true },
        ],
        [
          'lists keys',
          { keys: [wireKey], relying_party_id: 'example.com', user_handle: 'aGFuZGxl' },
          (keys) => keys.list(caller),
          `POST /v1/mfa/keys/list ${NAMED}`,
          { keys: [key], relyingPartyId: 'example.com', userHandle: 'aGFuZGxl' },
        ],
        [
          'renames a key',
          { renamed: true },
          (keys) => keys.rename({ ...caller, key: 'a2V5', name: 'New' }),
          `POST /v1/mfa/keys/rename ${NAMED}&Key=a2V5&Name=New`,
          { outcome: 'renamed' },
        ],
        [
          'removes a key that is gone already',
          { removed: false },
          (keys) => keys.remove({ ...caller, key: 'a2V5' }),
          `POST /v1/mfa/keys/remove ${NAMED}&Key=a2V5`,
          { outcome: 'none' },
        ],
        [
          'asks for the relying party',
          { id: 'example.com', name: 'Example', origins: ['https://example.com'], related_origins: [] },
          (keys) => keys.relyingParty(),
          'GET /v1/mfa/keys/relying-party ',
          { id: 'example.com', name: 'Example', origins: ['https://example.com'], relatedOrigins: [] },
        ],
      ],
      async ([_, body, ask, wire, expected]) => {
        const { keys, service } = await keysOf(answer(200, body))
        expect(await ask(keys)).toEqual(expected)
        expect(service.calls.map((call) => `${call.method} ${call.path} ${sorted(call.body)}`)).toEqual([
          wire.replace(/[^ ]*$/, sorted),
        ])
      },
    ))

  it('report why a response was refused, also with the header that every 401 must have', async () => {
    const problem = { code: 'invalid_key', fault: 'user_verification' }
    const { keys } = await keysOf(answer(401, problem, { 'WWW-Authenticate': 'Bearer' }))
    expect(await authenticate(keys)).toEqual({ outcome: 'invalid', fault: 'user_verification' })
  })

  it('take nothing for an accepted key that does not say so (R75)', () =>
    everyCase(
      [
        ['a refused API key', 401, { code: 'invalid_api_key' }, 'ERR_MFA_SERVICE_KEY'],
        ['a fault that does not exist', 401, { code: 'invalid_key', fault: 'mood' }, 'ERR_MFA_SERVICE_KEY'],
        ['a code as if one had been sent', 401, { code: 'invalid_code' }, 'ERR_MFA_SERVICE_KEY'],
        ['an empty success', 200, '', 'ERR_MFA_SERVICE_ANSWER'],
        ['a success without the key', 200, { valid: true, user_verified: true }, 'ERR_MFA_SERVICE_ANSWER'],
        [
          'a success that says no',
          200,
          { valid: false, key: wireKey, user_verified: true },
          'ERR_MFA_SERVICE_ANSWER',
        ],
        ['a success without the flag', 200, { valid: true, key: wireKey }, 'ERR_MFA_SERVICE_ANSWER'],
        ['a page', 200, '<html>', 'ERR_MFA_SERVICE_ANSWER'],
        ['an internal error', 500, '', 'ERR_MFA_SERVICE_UNAVAILABLE'],
      ],
      async ([_, status, body, code]) => {
        const { keys } = await keysOf(answer(status, body))
        expect(await failure(authenticate(keys))).toMatchObject({ code })
      },
    ))

  it('turn a status into the refusal that it means', () =>
    everyCase(
      [
        [429, { code: 'locked' }, { reason: 'locked', retryAfterSeconds: 30 }],
        [403, { code: 'method_off' }, { reason: 'method_off' }],
        [404, { code: 'not_found' }, { reason: 'method_off' }],
      ],
      async ([status, body, refusal]) => {
        const { keys } = await keysOf(answer(status, body, { 'Retry-After': '30' }))
        expect(await authenticate(keys)).toEqual({ outcome: 'refused', refusal })
      },
    ))

  it('say that an application without a relying party has none', async () => {
    const { keys } = await keysOf(answer(404, { code: 'not_found' }))
    expect(await keys.relyingParty()).toBeUndefined()
  })
})

describe('the dialects', () => {
  it('offer no keys for the published API, unless the path is given', async () => {
    const published = await pair(answer(200), { dialect: 'published' })
    expect(published.client.keys).toBeUndefined()
    const { keys, service } = await keysOf(answer(200, { keys: [], relying_party_id: 'example.com' }), {
      paths: { keys: '/v2/webauthn' },
    })
    await keys.list(caller)
    expect(service.calls[0]).toMatchObject({ path: '/v2/webauthn/list', body: 'User=dora%40example.com' })
  })

  it('check no key before the service has identified itself (R131)', async () => {
    const { keys } = await keysOf(answer(404), 'detect')
    for (const asked of [authenticate(keys), keys.relyingParty()]) {
      expect(await failure(asked)).toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
    }
  })
})

describe('a service that the host passes as an object', () => {
  it('must give valid answers about keys', async () => {
    const { keys } = await keysOf(answer(200))
    const lying: KeyVerbs = { ...keys, authenticate: async () => JSON.parse('{"outcome":"valid"}') }
    const service = validatedService({ ...standInService().service, keys: lying }, console)
    if (!service.keys) throw new Error('The service has no keys.')
    const error = await failure(authenticate(service.keys))
    expect(error).toMatchObject({ code: 'ERR_MFA_SERVICE_ANSWER' })
    expect(error.message).toContain('from keys.authenticate: key')
  })
})

/** The parameters in a fixed order, since a form has none. */
function sorted(body: string): string {
  return body.split('&').sort().join('&')
}
