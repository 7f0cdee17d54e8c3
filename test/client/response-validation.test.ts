import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { pair, verdict } from './ask.js'
import { answer } from './hostile-service.js'

const FAULT = 'ERR_MFA_SERVICE_ANSWER'
const PAGE = '<!doctype html><title>Welcome</title><p>Sign in to the network'

/** The answers of a service to verify, and their meaning in the published dialect and our own. */
const answers: readonly [
  title: string,
  behaviour: ReturnType<typeof answer>,
  published: string,
  ours: string,
][] = [
  ['200 and nothing', answer(200), 'valid', FAULT],
  ['200 and blanks', answer(200, ' \r\n '), 'valid', FAULT],
  ['200 and {}', answer(200, {}), 'valid', FAULT],
  ['200 and valid: true', answer(200, { valid: true }), 'valid', 'valid'],
  ['200 and our own whole answer', answer(200, { valid: true, type: 'PHONE' }), 'valid', 'valid'],
  ['200 and something else', answer(200, { user: { name: 'x' } }), 'valid', FAULT],
  ['200 and a message alone', answer(200, { message: 'ok', user: { name: 'x' } }), FAULT, FAULT],
  ['200 and a message beside valid: true', answer(200, { message: 'ok', valid: true }), 'valid', 'valid'],
  ['200 and approved: false', answer(200, { approved: false }), 'invalid', 'invalid'],
  ['200 and is_valid: false', answer(200, { is_valid: false }), 'invalid', 'invalid'],
  ['200 and status: "invalid"', answer(200, { status: 'invalid' }), 'invalid', 'invalid'],
  ['200 and status: "Failed"', answer(200, { status: 'Failed' }), 'invalid', 'invalid'],
  ['200 and status: "denied"', answer(200, { status: 'denied' }), 'invalid', 'invalid'],
  ['200 and status: "expired"', answer(200, { status: 'expired' }), 'invalid', 'invalid'],
  ['200 and status: "pending"', answer(200, { status: 'pending' }), 'invalid', 'invalid'],
  ['200 and status: "error"', answer(200, { status: 'error' }), FAULT, FAULT],
  ['200 and result: "denied"', answer(200, { result: 'denied' }), 'invalid', 'invalid'],
  ['200 and result: false', answer(200, { result: false }), 'invalid', 'invalid'],
  ['200 and status: "approved"', answer(200, { status: 'approved' }), 'valid', FAULT],
  ['200 and a no inside data', answer(200, { data: { valid: false } }), 'invalid', 'invalid'],
  ['200 and a status inside data', answer(200, { data: { status: 'pending' } }), 'invalid', 'invalid'],
  ['200 and a no inside result', answer(200, { result: { is_valid: false } }), 'invalid', 'invalid'],
  ['200 and an error inside data', answer(200, { data: { error: 'x' } }), FAULT, FAULT],
  [
    '200 and a yes beside a no inside data',
    answer(200, { valid: true, data: { valid: false } }),
    'invalid',
    'invalid',
  ],
  ['200 and success: true', answer(200, { success: true }), 'valid', FAULT],
  ['200 and valid: "true"', answer(200, { valid: 'true' }), 'valid', FAULT],
  ['200 and valid: 1', answer(200, { valid: 1 }), FAULT, FAULT],
  ['200 and valid: false', answer(200, { valid: false }), 'invalid', 'invalid'],
  ['200 and valid: "false"', answer(200, { valid: 'false' }), 'invalid', 'invalid'],
  ['200 and Valid: false', answer(200, { Valid: false }), 'invalid', 'invalid'],
  ['200 and SUCCESS: "False"', answer(200, { SUCCESS: 'False' }), 'invalid', 'invalid'],
  ['200 and success: false', answer(200, { success: false }), 'invalid', 'invalid'],
  ['200 and verified: false', answer(200, { verified: false }), 'invalid', 'invalid'],
  ['200 and ok: false', answer(200, { ok: false }), 'invalid', 'invalid'],
  ['200 and a yes beside a no', answer(200, { valid: true, success: false }), 'invalid', 'invalid'],
  ['200 and success: null', answer(200, { success: null }), FAULT, FAULT],
  ['200 and valid: {}', answer(200, { valid: {} }), FAULT, FAULT],
  ['200 and an error', answer(200, { error: 'database gone' }), FAULT, FAULT],
  ['200 and an Error', answer(200, { Error: { code: 7 } }), FAULT, FAULT],
  ['200 and errors', answer(200, { valid: true, errors: ['x'] }), FAULT, FAULT],
  ['200, valid: true and error: null', answer(200, { valid: true, error: null }), 'valid', 'valid'],
  ['200, valid: true and errors: []', answer(200, { valid: true, errors: [] }), 'valid', 'valid'],
  ['200 and a page', answer(200, PAGE, { 'Content-Type': 'text/html' }), FAULT, FAULT],
  [
    '200 and a page that says it is JSON',
    answer(200, PAGE, { 'Content-Type': 'application/json' }),
    FAULT,
    FAULT,
  ],
  [
    '200 and JSON that says it is a page',
    answer(200, '{"valid":true}', { 'Content-Type': 'text/html' }),
    FAULT,
    FAULT,
  ],
  ['200 and an array', answer(200, '[]'), FAULT, FAULT],
  ['200 and an array of one yes', answer(200, '[{"valid":true}]'), FAULT, FAULT],
  ['200 and a string', answer(200, '"valid"'), FAULT, FAULT],
  ['200 and a number', answer(200, '1'), FAULT, FAULT],
  ['200 and null', answer(200, 'null'), FAULT, FAULT],
  ['200 and true', answer(200, 'true'), FAULT, FAULT],
  ['200 and plain text', answer(200, 'OK', { 'Content-Type': 'text/plain' }), FAULT, FAULT],
  ['200 and half a JSON', answer(200, '{"valid":true', { 'Content-Type': 'application/json' }), FAULT, FAULT],
  ['201', answer(201, { valid: true }), FAULT, FAULT],
  ['202', answer(202, { valid: true }), FAULT, FAULT],
  ['203', answer(203, { valid: true }), FAULT, FAULT],
  ['204', answer(204), FAULT, FAULT],
  ['206', answer(206, { valid: true }), FAULT, FAULT],
  ['300', answer(300, { valid: true }), FAULT, FAULT],
  ['304', answer(304), FAULT, FAULT],
  ['302 in the words of a refusal', answer(302, { code: 'method_off' }), FAULT, FAULT],
  ['201 in the words of a refusal', answer(201, { code: 'method_off' }), FAULT, FAULT],
]

describe('an answer to verify (R75)', () => {
  it('means in the published dialect what its status and body say', () =>
    everyCase(answers, async ([_title, behaviour, published]) => {
      const { client, service } = await pair(behaviour)
      expect(await verdict(client)).toBe(published)
      expect(service.calls).toHaveLength(1)
    }))

  it('means in our own dialect what its status and body say', () =>
    everyCase(answers, async ([_title, behaviour, _published, ours]) => {
      const { client, service } = await pair(behaviour, { dialect: 'countersign' })
      expect(await verdict(client)).toBe(ours)
      expect(service.calls).toHaveLength(1)
    }))
})

describe('keys that mean something to JavaScript', () => {
  it('a body with prototype keys does not mean a valid code and changes no other object (R80)', () =>
    everyCase(
      [
        ['__proto__', '{"__proto__":{"valid":true,"type":"PHONE"}}'],
        ['constructor', '{"constructor":{"prototype":{"valid":true,"type":"PHONE"}}}'],
      ],
      async ([_name, body]) => {
        const { client } = await pair(answer(200, body, { 'Content-Type': 'application/json' }), {
          dialect: 'countersign',
        })
        expect(await verdict(client)).toBe(FAULT)
        expect(Reflect.get({}, 'valid')).toBeUndefined()
      },
    ))

  it('__proto__ cannot turn a wrong code into a valid one (R80)', async () => {
    const { client } = await pair(answer(200, '{"valid":false,"__proto__":{"valid":true}}'))
    expect(await verdict(client)).toBe('invalid')
  })

  it('__proto__ cannot give a challenge to a send (R80)', async () => {
    const { client } = await pair(answer(200, '{"__proto__":{"challenge":"planted","status":"queued"}}'))
    const sent = await client.send({ method: 'email', contact: { kind: 'email', email: 'a@example.com' } })
    expect(sent).toEqual({ outcome: 'sent' })
  })
})

it('another service can be required to respond with valid: true as well', async () => {
  const yes = await pair(answer(200, { valid: true }), { dialect: { validWhen: 'body' } })
  expect(await verdict(yes.client)).toBe('valid')
  const silent = await pair(answer(200), { dialect: { validWhen: 'body' } })
  expect(await verdict(silent.client)).toBe(FAULT)
})
