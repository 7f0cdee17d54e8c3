import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Letter } from '../src/delivery/message.js'
import { checkRecipient } from '../src/delivery/message.js'
import { smtpCarrier } from '../src/delivery/smtp.js'
import { webhookCarrier } from '../src/delivery/webhook.js'
import { limitsSchema } from '../src/limits.js'
import { backupMessage, codeMessage } from '../src/texts/compose.js'
import { listen, rejection } from './kit.js'

const application = {
  id: 'a',
  name: 'Vault',
  origin: undefined,
  locale: 'en',
  limits: limitsSchema.parse({}),
}
const told = { code: '012345', purpose: 'sign-in', secondsLeft: 600 } as const

function mail(to: string): Letter {
  const recipient = { channel: 'email', to, locale: 'en' } as const
  return { ...codeMessage(application, recipient, told), id: 'letter-1', application: 'a' }
}

describe('by SMTP', () => {
  const received: { from: string; to: string[]; source: string }[] = []
  const answers: { code: number; at: 'to' | 'data' }[] = []
  const failure = (at: 'to' | 'data') => {
    if (answers[0]?.at !== at) return undefined
    const code = answers.shift()?.code ?? 0
    return Object.assign(new Error('not taken'), { responseCode: code })
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'vault' && password === 'p%w@rd'
        ? done(null, { user: username })
        : done(new Error('Invalid login')),
    onRcptTo: (_address, _session, done) => done(failure('to')),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const refused = failure('data')
        if (refused) return done(refused)
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map((recipient) => recipient.address),
          source: Buffer.concat(chunks).toString('utf8'),
        })
        done()
      })
    },
  })
  let port = 0
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.server.address() as AddressInfo).port
  })
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)))

  const carrier = (settings = {}) =>
    smtpCarrier({
      host: '127.0.0.1',
      port,
      secure: false,
      from: 'Vault <no-reply@vault.example>',
      ...settings,
    })
  const deliver = async (letter: Letter, settings = {}) => {
    const smtp = carrier(settings)
    await smtp.deliver(letter, AbortSignal.timeout(5_000)).finally(() => smtp.close())
  }

  test('a mail has the code in its subject, text and HTML, and says that a machine wrote it', async () => {
    await deliver(mail("zoe.o'neil+x@example.com"), {
      user: 'vault',
      password: 'p%w@rd',
    })
    const { source, ...envelope } = received.at(-1) ?? { source: '' }
    expect(envelope).toEqual({ from: 'no-reply@vault.example', to: ["zoe.o'neil+x@example.com"] })
    const parsed = await PostalMime.parse(source)
    expect(parsed.subject).toBe('012345 is your Vault code')
    expect(parsed.text).toContain(
      "012345 is your Vault code to sign in. It expires in 10 minutes. Don't share it",
    )
    expect(parsed.html).toContain('012345')
    expect(parsed.html).not.toMatch(/<a |<img|<script|https?:/)
    expect(parsed.from).toEqual({ name: 'Vault', address: 'no-reply@vault.example' })
    expect(parsed.messageId).toBe('<letter-1@vault.example>')
    expect(parsed.headers.find((header) => header.key === 'auto-submitted')?.value).toBe('auto-generated')
  })

  test.each([
    [550, 'to', true],
    [552, 'data', true],
    [451, 'to', false],
    [421, 'data', false],
  ] as const)('an answer of %i at %s is permanent: %s', async (code, at, permanent) => {
    answers.push({ code, at })
    expect(await rejection(deliver(mail('a@example.com')))).toMatchObject({
      name: 'DeliveryError',
      permanent,
    })
  })

  test('a wrong login and a server that is down are not the letter’s fault', async () => {
    const wrongLogin = deliver(mail('a@example.com'), { user: 'vault', password: 'wrong' })
    expect(await rejection(wrongLogin)).toMatchObject({ permanent: false })
    expect(await rejection(deliver(mail('a@example.com'), { port: 1 }))).toMatchObject({ permanent: false })
  })
})

describe('any letter', () => {
  test.each([
    'a@example.com,b@example.com',
    'a@example.com b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'Group: a@example.com;',
    '<a@example.com>',
    'a@b@example.com',
    '+447700900123',
    '',
  ])('goes to exactly one plain mailbox, not to %j (R88)', (to) => {
    expect(() => checkRecipient(mail(to))).toThrow('may be sent to')
  })

  test('has no control character in its subject (R88)', () => {
    expect(() => checkRecipient({ ...mail('a@example.com'), subject: 'a\nb' })).toThrow('may be sent to')
    expect(() => checkRecipient(mail('a@example.com'))).not.toThrow()
  })
})

describe('by webhook', () => {
  const requests: { headers: Record<string, unknown>; body: string }[] = []
  let status = 200
  let hang = false
  let server: Awaited<ReturnType<typeof listen>>
  beforeAll(async () => {
    server = await listen(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      requests.push({ headers: request.headers, body })
      if (hang) return
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('ignored')
    })
  })
  afterAll(() => server.close())

  const secret = 'shared with the receiver'
  const deliver = (letter: Letter, timeoutMs = 5_000) =>
    webhookCarrier({ url: `${server.url}/hook`, secret }).deliver(letter, AbortSignal.timeout(timeoutMs))

  test('posts the message with its code, signed with the time', async () => {
    const recipient = { channel: 'sms', to: '+447700900123', locale: 'en' } as const
    await deliver({ ...codeMessage(application, recipient, told), id: 'letter-2', application: 'a' })
    const { headers, body } = requests.at(-1) ?? { headers: {}, body: '' }
    expect(JSON.parse(body)).toEqual({
      id: 'letter-2',
      channel: 'sms',
      to: '+447700900123',
      purpose: 'sign-in',
      locale: 'en',
      text: expect.stringContaining('012345 is your Vault code'),
      code: '012345',
    })
    const [, time, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['countersign-signature'])) ?? []
    expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'))
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('posts backup codes as a list, a mail with its subject', async () => {
    const recipient = { channel: 'email', to: 'a@example.com', locale: 'en' } as const
    const codes = ['AAAA-BBBB', 'CCCC-DDDD']
    await deliver({ ...backupMessage(application, recipient, codes), id: 'letter-3', application: 'a' })
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({
      channel: 'email',
      purpose: 'backup',
      subject: 'Your Vault backup codes',
      codes,
    })
  })

  test.each([
    [400, true],
    [404, true],
    [302, true],
    [429, false],
    [503, false],
  ])('an answer of %i is permanent: %s, and no redirect is followed', async (answer, permanent) => {
    status = answer
    const before = requests.length
    expect(await rejection(deliver(mail('a@example.com')))).toMatchObject({
      name: 'DeliveryError',
      permanent,
    })
    expect(requests).toHaveLength(before + 1)
    status = 200
  })

  test('gives up on a receiver that does not answer', async () => {
    hang = true
    expect(await rejection(deliver(mail('a@example.com'), 100))).toMatchObject({ permanent: false })
    hang = false
  })
})
