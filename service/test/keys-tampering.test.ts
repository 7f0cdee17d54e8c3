import type { KeyVerbs } from 'countersign/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyPage, softwareAuthenticator } from '../../src/testing/index.js'
import { everyCase } from '../../test/kit/every-case.js'
import { apiOver } from './api-kit.js'
import { API_KEY, type Bench, freshEmail, freshTenant, listen, openBench } from './kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from './software-key.js'
import { ASSERTIONS, type Case, REGISTRATIONS, type Refusal, type Response } from './tampered-responses.js'

/*
 * One thing wrong at a time, in a response that is right in everything else. Each case ends with the same ceremony without the
 * fault, which is accepted.
 */

let bench: Bench
let address: Awaited<ReturnType<typeof listen>>
let tenant: ReturnType<typeof freshTenant>
const device = softwareAuthenticator()
beforeAll(async () => {
  bench = await openBench()
  tenant = freshTenant(bench, { relyingParty: RELYING_PARTY })
  address = await listen(apiOver(bench.context, tenant.application))
  await registerSoftwareKey(tenant.mfa, USER, 'passkey', { device })
})
afterAll(async () => {
  await address.close()
  await bench.close()
})

const USER = { account: 'ann', contact: freshEmail() }
const ENROLLMENT = { method: 'passkey', transaction: 'enroll' } as const
const SIGN_IN = { method: 'passkey', purpose: 'sign-in', transaction: 'login' } as const

type Verb = 'register' | 'authenticate'

/** Submits a response in this process. */
async function inProcess(verb: Verb, response: object): Promise<Refusal | 'accepted'> {
  const keys: KeyVerbs = keysOf(tenant.mfa)
  const given = response as Parameters<KeyVerbs['register']>[0]['response']
  try {
    const answer =
      verb === 'register'
        ? await keys.register({ ...USER, ...ENROLLMENT, response: given })
        : await keys.authenticate({ ...USER, ...SIGN_IN, response: given })
    return 'fault' in answer ? answer.fault : 'accepted'
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_MFA_SERVICE_REQUEST' })
    return 'invalid_request'
  }
}

/** Submits a response over HTTP. */
async function overHttp(verb: Verb, response: object): Promise<Refusal | 'accepted'> {
  const path = verb === 'register' ? 'registration' : 'authentication'
  const { transaction, ...more } = verb === 'register' ? ENROLLMENT : SIGN_IN
  const answer = await fetch(`${address.url}/v1/mfa/keys/${path}/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      User: USER.contact.email,
      Account: USER.account,
      Type: 'PASSKEY',
      ...('purpose' in more && { Purpose: more.purpose }),
      Transaction: transaction,
      Response: response,
    }),
  })
  const { code, fault } = Object(await answer.json())
  if (answer.status === 200) return 'accepted'
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect([answer.status, code]).toEqual(fault ? [401, 'invalid_key'] : [400, 'invalid_request'])
  return fault ?? code
}

/** A response for a ceremony of its own: a new credential, or an assertion of the key that is registered. */
async function respond(verb: Verb, changes: Partial<KeyPage> = {}): Promise<Response> {
  const keys = keysOf(tenant.mfa)
  const page = { ...KEY_PAGE, ...changes }
  if (verb === 'authenticate') {
    return device.get(await optionsIn(keys.authenticationOptions({ ...USER, ...SIGN_IN })), page)
  }
  return softwareAuthenticator().create(
    await optionsIn(keys.registrationOptions({ ...USER, ...ENROLLMENT })),
    page,
  )
}

/** Everything that is stored about keys. */
async function stored(): Promise<string> {
  const tables = ['account_key', 'key_user'].map((table) =>
    bench.store.query(`SELECT * FROM ${table} WHERE application = $1 ORDER BY 1, 2, 3`, [
      tenant.application.id,
    ]),
  )
  return JSON.stringify(await Promise.all(tables))
}

/** Expects that a response is refused and changes nothing that is stored. */
async function expectRefused(
  submit: typeof overHttp,
  verb: Verb,
  { refusal, page, change = (response) => response }: Case,
): Promise<void> {
  const response = await respond(verb, page)
  const before = await stored()
  expect(await submit(verb, change(response))).toBe(refusal)
  expect(await stored()).toBe(before)
}

test('a request without a purpose is for a sign-in, and one without a transaction belongs to none', async () => {
  const post = async (path: string, parameters: object) => {
    const response = await fetch(`${address.url}/v1/mfa/keys/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ User: 'mia@example.com', Type: 'PASSKEY', ...parameters }),
    })
    return { status: response.status, body: Object(await response.json()) }
  }
  const key = softwareAuthenticator()
  const { body: made } = await post('registration/options', {})
  const created = await key.create(made.options, KEY_PAGE)
  expect((await post('registration/verify', { Response: created })).status).toBe(200)
  const asserted = async (asked: object, shown: object) => {
    const { body } = await post('authentication/options', asked)
    return post('authentication/verify', { ...shown, Response: await key.get(body.options, KEY_PAGE) })
  }
  expect((await asserted({}, {})).status).toBe(200)
  expect((await asserted({}, { Purpose: 'sign-in' })).status).toBe(200)
  for (const [asked, shown] of [
    [{}, { Purpose: 'step-up' }],
    [{ Purpose: 'step-up' }, {}],
    [{}, { Transaction: 'login' }],
    [{ Transaction: 'login' }, {}],
  ] as const) {
    expect(await asserted(asked, shown)).toMatchObject({ status: 401, body: { fault: 'challenge' } })
  }
  const untyped = await post('authentication/options', { Type: undefined })
  expect(untyped.body.errors).toEqual([{ field: 'Type', detail: expect.any(String) }])
})

describe('a registration', () => {
  test('with one thing wrong is refused for it (R70, R72)', () =>
    everyCase(REGISTRATIONS, (one) => expectRefused(overHttp, 'register', one)))

  test('is refused in process, too', () =>
    everyCase(oneOfEach(REGISTRATIONS), (one) => expectRefused(inProcess, 'register', one)))

  test('is accepted without a fault', async () => {
    expect(await overHttp('register', await respond('register'))).toBe('accepted')
    expect(await inProcess('register', await respond('register'))).toBe('accepted')
  })
})

describe('an assertion', () => {
  const submits = async (submit: typeof overHttp, one: Case) => {
    await expectRefused(submit, 'authenticate', one)
    const before = await stored()
    expect(await submit('authenticate', await respond('authenticate'))).toBe('accepted')
    expect(await stored()).not.toBe(before)
  }

  test('with one thing wrong is refused for it, and accepted without it (R70, R71)', () =>
    everyCase(ASSERTIONS, (one) => submits(overHttp, one)))

  test('is refused in process, too', () => everyCase(oneOfEach(ASSERTIONS), (one) => submits(inProcess, one)))
})

test('of 200 concurrent submissions of one assertion one is accepted (R69)', async () => {
  const response = await respond('authenticate')
  const answers = await Promise.all(Array.from({ length: 200 }, () => overHttp('authenticate', response)))
  const count = (answer: string) => answers.filter((one) => one === answer).length
  expect([count('accepted'), count('challenge')]).toEqual([1, 199])
})

/** The first case with each refusal. */
function oneOfEach(cases: readonly Case[]): Case[] {
  return [...new Map(cases.toReversed().map((one) => [one.refusal, one])).values()].toReversed()
}
