import { describe, expect, it } from 'vitest'
import type { HttpService } from '../../src/client/service.js'
import type { ServiceAddress } from '../../src/options/service.js'
import type { Contact, DeliveredMethod } from '../../src/protocol/index.js'
import { everyCase } from '../kit/every-case.js'
import { pair } from './ask.js'
import { answer } from './hostile-service.js'

const email: Contact = { kind: 'email', email: 'dora+bank@example.com' }
const phone: Contact = { kind: 'phone', phone: '+447700900104' }
const dual: Contact = { kind: 'dual', email: 'dora@example.com', phone: '+447700900104' }
const PNG = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), Buffer.alloc(40)]).toString(
  'base64',
)

const caller = { account: 'u-1', clientAddress: '203.0.113.7', locale: 'pt-BR' }
const contactFor = (method: DeliveredMethod): Contact =>
  method === 'email' ? email : method === 'dual' ? dual : phone

/** The form of one call on the wire: method, path, content type, body. */
async function onTheWire(
  ask: (client: HttpService) => Promise<unknown>,
  dialect?: ServiceAddress['dialect'],
) {
  const { client, service } = await pair(answer(200, { valid: true, qr: PNG }), dialect && { dialect })
  await ask(client)
  const [call] = service.calls
  expect(service.calls).toHaveLength(1)
  return `${call?.method} ${call?.path} ${call?.headers['content-type']}\n${call?.body}`
}
const form = 'application/x-www-form-urlencoded;charset=utf-8'

describe('the published API, as it stands on the wire', () => {
  it('requests a code by each method', () =>
    everyCase<[DeliveredMethod, string]>(
      [
        ['email', 'User=dora%2Bbank%40example.com&Type=EMAIL'],
        ['sms', 'User=%2B447700900104&Type=SMS'],
        ['whatsapp', 'User=%2B447700900104&Type=WHATSAPP'],
        ['call', 'User=%2B447700900104&Type=CALL'],
        ['dual', 'User=dora%40example.com%3A%2B447700900104&Type=DUAL'],
      ],
      async ([method, body]) => {
        const wire = await onTheWire((client) =>
          client.send({ method, contact: contactFor(method), ...caller }),
        )
        expect(wire).toBe(`POST /v1/mfa ${form}\n${body}`)
      },
    ))

  it('verifies a code of each method', () =>
    everyCase<[DeliveredMethod | 'app', Contact, string]>(
      [
        ['email', email, 'User=dora%2Bbank%40example.com&Type=EMAIL&Code=123456'],
        ['sms', phone, 'User=%2B447700900104&Type=PHONE&Code=123456'],
        ['whatsapp', phone, 'User=%2B447700900104&Type=PHONE&Code=123456'],
        ['call', phone, 'User=%2B447700900104&Type=PHONE&Code=123456'],
        ['app', email, 'User=dora%2Bbank%40example.com&Type=APP&Code=123456'],
        ['app', phone, 'User=%2B447700900104&Type=APP&Code=123456'],
        ['dual', dual, 'User=dora%40example.com%3A%2B447700900104&Type=DUAL&Code=123456'],
      ],
      async ([method, contact, body]) => {
        const wire = await onTheWire((client) =>
          client.verify({ method, contact, code: '123456', kind: 'code', ...caller }),
        )
        expect(wire).toBe(`POST /v1/mfa/verify ${form}\n${body}`)
      },
    ))

  it('requests an authenticator app', async () => {
    const wire = await onTheWire((client) => client.enrollApp({ contact: email, ...caller }))
    expect(wire).toBe(`POST /v1/mfa/app ${form}\nUser=dora%2Bbank%40example.com`)
  })

  it('requests backup codes by each method', () =>
    everyCase<['email' | 'sms' | 'dual', string]>(
      [
        ['email', 'User=dora%2Bbank%40example.com&Type=EMAIL'],
        ['sms', 'User=%2B447700900104&Type=SMS'],
        ['dual', 'User=dora%40example.com%3A%2B447700900104&Type=DUAL'],
      ],
      async ([method, body]) => {
        const wire = await onTheWire((client) =>
          client.sendBackupCodes({ method, contact: contactFor(method), ...caller }),
        )
        expect(wire).toBe(`POST /v1/mfa/backup ${form}\n${body}`)
      },
    ))

  it('sends the challenge of the service back (R38)', async () => {
    const wire = await onTheWire((client) =>
      client.verify({ method: 'sms', contact: phone, code: '1 2&3', kind: 'code', challenge: 'c/1' }),
    )
    expect(wire).toBe(
      `POST /v1/mfa/verify ${form}\nUser=%2B447700900104&Type=PHONE&Code=1+2%263&Challenge=c%2F1`,
    )
  })
})

describe('our own dialect', () => {
  it('also sends the account, the purpose and the kind of the code (R91)', async () => {
    const sent = await onTheWire(
      (client) =>
        client.send({ method: 'sms', contact: phone, purpose: 'step-up', challenge: 'c1', ...caller }),
      'countersign',
    )
    const extras = 'Account=u-1&ClientAddress=203.0.113.7&Locale=pt-BR'
    expect(sent).toContain(`User=%2B447700900104&Type=SMS&Challenge=c1&${extras}&Purpose=step-up`)
    const signIn = { browser: 'Firefox', system: 'Windows' }
    const after = await onTheWire(
      (client) => client.send({ method: 'email', contact: email, signIn }),
      'countersign',
    )
    expect(after).toContain(`SignIn=${encodeURIComponent(JSON.stringify(signIn))}`)
    for (const [kind, word] of Object.entries({
      code: 'CODE',
      backup: 'BACKUP',
      confirm: 'CONFIRM',
    } as const)) {
      const verified = await onTheWire(
        (client) => client.verify({ method: 'email', contact: email, code: '123456', kind: kind as 'code' }),
        'countersign',
      )
      expect(verified).toContain(`Code=123456&Kind=${word}`)
    }
    expect(
      await onTheWire((client) => client.enrollApp({ contact: email, ...caller }), 'countersign'),
    ).toContain(extras)
    const backup = (client: HttpService) =>
      client.sendBackupCodes({ method: 'sms', contact: phone, ...caller })
    expect(await onTheWire(backup, 'countersign')).toContain(extras)
  })

  it('has what a code approves, which the published API is not told (R121)', async () => {
    const approval = { digest: 'A'.repeat(43), lines: [{ label: 'To', value: 'Ana' }] }
    const asked = { transaction: 'approval-1', approval, ...caller }
    const send = (client: HttpService) =>
      client.send({ method: 'sms', contact: phone, purpose: 'approval', ...asked })
    const verify = (client: HttpService) =>
      client.verify({ method: 'sms', contact: phone, code: '123456', kind: 'code', ...asked })
    await everyCase([send, verify], async (call) => {
      const [, body = ''] = (await onTheWire(call, 'countersign')).split('\n')
      const fields = new URLSearchParams(body)
      expect(fields.get('Transaction')).toBe('approval-1')
      expect(JSON.parse(fields.get('Approval') ?? '')).toEqual(approval)
      expect(await onTheWire(call)).not.toContain('Approval')
    })
  })
})

describe('a service that differs', () => {
  const send = (client: HttpService) => client.send({ method: 'dual', contact: dual })
  const backup = (client: HttpService) => client.sendBackupCodes({ method: 'dual', contact: dual })

  it('gets JSON if the dialect says so', async () => {
    const wire = await onTheWire(send, { contentType: 'json' })
    const body = '{"User":"dora@example.com:+447700900104","Type":"DUAL"}'
    expect(wire).toBe(`POST /v1/mfa application/json\n${body}`)
  })

  it('is called with the given paths and types, and the published ones otherwise', async () => {
    const dialect = {
      paths: { sendDual: '/v2/dual', backupDual: '/v1/mfa', verify: undefined },
      sendTypes: { dual: 'BOTH', sms: undefined },
      backupTypes: { dual: 'BACKUP_DUAL' },
      contentType: undefined,
    }
    expect(await onTheWire(send, dialect)).toMatch(/^POST \/v2\/dual .*\n.*&Type=BOTH$/)
    expect(await onTheWire(backup, dialect)).toMatch(/^POST \/v1\/mfa .*\n.*&Type=BACKUP_DUAL$/)
    const sms = (client: HttpService) => client.send({ method: 'sms', contact: phone })
    expect(await onTheWire(sms, dialect)).toBe(`POST /v1/mfa ${form}\nUser=%2B447700900104&Type=SMS`)
    const verify = (client: HttpService) =>
      client.verify({ method: 'sms', contact: phone, code: '123456', kind: 'backup' })
    expect(await onTheWire(verify, dialect)).toMatch(/^POST \/v1\/mfa\/verify .*Code=123456$/s)
  })

  it('can be mounted below a path, with or without a trailing slash', async () => {
    for (const end of ['', '/', '//']) {
      const { client, service } = await pair(answer(200))
      const below = await pair(answer(200), { baseUrl: `${service.url}/tenants/7${end}` })
      await below.client.send({ method: 'sms', contact: phone })
      expect(service.calls[0]?.path).toBe('/tenants/7/v1/mfa')
      expect(client).toBeDefined()
    }
  })
})

describe('what a service says to a send', () => {
  const send = async (status: number, body?: unknown, headers?: Record<string, string>) => {
    const { client } = await pair(answer(status, body, headers))
    return client.send({ method: 'sms', contact: phone }).catch((error: { code: string }) => error.code)
  }

  it('each body of a success means that the code was sent', () =>
    everyCase<[string, number, unknown, Record<string, string> | undefined]>(
      [
        ['nothing', 200, '', undefined],
        ['201', 201, {}, undefined],
        ['202', 202, '', undefined],
        ['204', 204, '', undefined],
        ['some JSON', 200, { message: 'sent' }, undefined],
        ['plain words', 200, 'OK', { 'Content-Type': 'text/plain; charset=utf-8' }],
        ['plain words without a content type', 200, 'OK', { 'Content-Type': '' }],
      ],
      async ([_title, status, body, headers]) => {
        expect(await send(status, body, headers)).toEqual({ outcome: 'sent' })
      },
    ))

  it('reads every member of a response of the Countersign service', async () => {
    const body = { status: 'queued', challenge: 'c1', type: 'SMS', expires_in: 300, resend_in: 30 }
    const expected = { outcome: 'queued', challenge: 'c1', expiresInSeconds: 300, resendInSeconds: 30 }
    expect(await send(200, body)).toEqual(expected)
  })

  it('ignores invalid members', async () => {
    const wrong = [-1, 1.5, '300', 1e9, null, [300]]
    for (const value of wrong) {
      const body = { challenge: value, expires_in: value, resend_in: value }
      expect(await send(200, body)).toEqual({
        outcome: 'sent',
        ...(value === '300' && { challenge: '300' }),
      })
    }
    expect(await send(200, { challenge: 'x'.repeat(129) })).toEqual({ outcome: 'sent' })
    expect(await send(200, { challenge: 'line\r\nbreak' })).toEqual({ outcome: 'sent' })
  })

  it('a response that means nothing is a failure with an unknown result', () =>
    everyCase<[string, unknown, Record<string, string> | undefined]>(
      [
        ['a page', '<html></html>', { 'Content-Type': 'text/html; charset=utf-8' }],
        ['a page that says it is text', '<html></html>', { 'Content-Type': 'text/plain' }],
        ['a page without a content type', '<html></html>', { 'Content-Type': '' }],
        ['wrong JSON', '{"status":', { 'Content-Type': 'application/json' }],
        ['wrong JSON that says it is text', '{"status":', { 'Content-Type': 'text/plain' }],
        ['an array', [], undefined],
        ['success: false', { success: false }, undefined],
        ['an error', { error: 'no credit' }, undefined],
      ],
      async ([_title, body, headers]) => {
        expect(await send(200, body, headers)).toBe('ERR_MFA_SERVICE_ANSWER')
      },
    ))
})
