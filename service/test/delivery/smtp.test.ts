import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing } from '../../../test/kit/debian-packages.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { type SmtpSettings, smtpCarrier } from '../../src/messages/carriers/smtp.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import { backupMessage, codeMessage, noticeMessage } from '../../src/messages/texts/compose.js'
import { rejection } from '../kit.js'
import { describeCarrier } from './contract.js'
import { farEnd, type MailServer, mailServer, opensslMissing } from './mail-server.js'
import { CODE, message, queued, VAULT } from './queued-messages.js'

/** The settings of an address. */
function settingsOf(address: string): SmtpSettings {
  const { routes, faults } = parseDelivery(address)
  const [route] = routes.email ?? []
  if (route?.by !== 'smtp') throw new Error(faults.join())
  return route.settings
}

async function deliver(address: string, one: QueuedMessage) {
  const carrier = smtpCarrier(settingsOf(address))
  return await carrier.deliver(one, AbortSignal.timeout(5_000)).finally(() => carrier.close?.())
}

const FROM = `from=${encodeURIComponent('Vault <no-reply@vault.example>')}`

describeCarrier('SMTP', ['email'], async () => {
  const server = await mailServer()
  const address = `smtp://vault:p%25w%40rd@127.0.0.1:${server.port}?${FROM}`
  return { ...farEnd(server), carrier: smtpCarrier(settingsOf(address)) }
})

if (opensslMissing) test.skip(opensslMissing, () => {})
else {
  describeCarrier('SMTP with STARTTLS', ['email'], async () => {
    const server = await mailServer({ tls: 'starttls' })
    const address = `smtp://vault:p%25w%40rd@localhost:${server.port}?${FROM}&tls=required&ca=${server.certificate}`
    return { ...farEnd(server), carrier: smtpCarrier(settingsOf(address)) }
  })

  describeCarrier('SMTP over TLS', ['email'], async () => {
    const server = await mailServer({ tls: 'smtps' })
    const address = `smtps://vault:p%25w%40rd@localhost:${server.port}?${FROM}&ca=${server.certificate}`
    return { ...farEnd(server), carrier: smtpCarrier(settingsOf(address)) }
  })

  describe('encryption', () => {
    test('works with a private authority', () =>
      everyCase(['starttls', 'smtps'] as const, async (tls) => {
        const server = await mailServer({ tls })
        const scheme = tls === 'smtps' ? 'smtps' : 'smtp'
        const address = `${scheme}://127.0.0.1:${server.port}?${FROM}`
        await deliver(`${address}&ca=${server.certificate}`, message('email'))
        expect(server.arrived.map((mail) => mail.encrypted)).toEqual([true])
        const distrusted = await rejection(deliver(address, message('email')))
        await server.close()
        expect(distrusted).toMatchObject({ name: 'DeliveryError', fault: 'carrier' })
        expect(distrusted.message).toBe(
          'The certificate of the mail server is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).',
        )
        expect(server.arrived).toHaveLength(1)
      }))

    test.skipIf(missing('faketime'))(
      'is refused with a certificate that expired or is for another host',
      () =>
        everyCase(
          [
            [{ isExpired: true }, 'has expired (CERT_HAS_EXPIRED)'],
            [{ host: 'other.example' }, 'is for another host (ERR_TLS_CERT_ALTNAME_INVALID)'],
          ] as const,
          async ([certificate, reason]) => {
            const server = await mailServer({ tls: 'starttls', ...certificate })
            const address = `smtp://127.0.0.1:${server.port}?${FROM}&ca=${server.certificate}`
            const error = await rejection(deliver(address, message('email')))
            await server.close()
            expect(error).toMatchObject({
              message: `The certificate of the mail server ${reason}.`,
              fault: 'carrier',
              details: { setup: 'carrier.certificate_refused' },
            })
          },
        ),
    )

    test('is not skipped when it is required and the server does not offer it', async () => {
      const server = await mailServer()
      const address = `smtp://vault:p%25w%40rd@127.0.0.1:${server.port}?${FROM}&tls=required`
      const error = await rejection(deliver(address, message('email')))
      await server.close()
      expect(error).toMatchObject({ fault: 'carrier', details: { setup: 'carrier.starttls_missing' } })
      expect(error.message).toContain('The mail server does not offer STARTTLS')
      expect(server.arrived).toEqual([])
    })
  })
}

describe('an email', () => {
  let server: MailServer
  beforeAll(async () => {
    server = await mailServer()
  })
  afterAll(() => server.close())
  const address = () => `smtp://127.0.0.1:${server.port}?${FROM}`
  const parsed = async (one: QueuedMessage) => {
    const receipt = await deliver(address(), one)
    const mail = server.arrived.at(-1)
    return { receipt, mail, source: mail?.content ?? '', ...(await PostalMime.parse(mail?.content ?? '')) }
  }

  test('has the code in its subject, text and HTML, and is marked as auto-generated', async () => {
    const one = message('email', { to: "zoe.o'neil+x@example.com" })
    const { mail, receipt, ...read } = await parsed(one)
    expect(mail).toMatchObject({ from: 'no-reply@vault.example', to: ["zoe.o'neil+x@example.com"] })
    expect(receipt).toEqual({ id: '4F2B1' })
    expect(read.subject).toBe('012345 is your Vault code')
    expect(read.text).toContain(
      "012345 is your Vault code to sign in. It expires in 5 minutes. Don't share it",
    )
    expect(read.html).toContain('012345')
    expect(read.html).not.toMatch(/<a |<img|<script|https?:/)
    expect(read.from).toEqual({ name: 'Vault', address: 'no-reply@vault.example' })
    expect(read.to).toEqual([{ name: '', address: "zoe.o'neil+x@example.com" }])
    expect(read.cc ?? read.bcc).toBeUndefined()
    expect(read.messageId).toBe(`<${one.id}.${one.application}@vault.example>`)
    expect(read.attachments).toEqual([])
    expect(read.headers.find((header) => header.key === 'auto-submitted')?.value).toBe('auto-generated')
  })

  test('with a code ends with the line for mail programs in its part of plain text, and only there', async () => {
    const origin = 'sign-in.vault.example'
    const recipient = { channel: 'email', to: 'zoe@example.com', locale: 'en' } as const
    const challenge = { code: CODE, purpose: 'sign-in', secondsLeft: 300 } as const
    const { source } = await parsed(queued(codeMessage({ ...VAULT, origin }, recipient, challenge)))
    const [, boundary = ''] = /^Content-Type: multipart\/alternative;\s+boundary="(.+)"/m.exec(source) ?? []
    const [plain = '', html = ''] = source.split(`--${boundary}`).slice(1)
    const last = `\n\n@${origin} #${CODE}`
    expect(plain).toMatch(/^\r\nContent-Type: text\/plain/)
    expect((await PostalMime.parse(plain.trimStart())).text?.trimEnd().endsWith(last)).toBe(true)
    expect(html).toMatch(/^\r\nContent-Type: text\/html/)
    expect((await PostalMime.parse(html.trimStart())).html).not.toContain(origin)
  })

  test('gets no additional header from the application’s name (R88)', async () => {
    const hostile = { ...VAULT, name: 'V\r\nBcc: eve@example.com\r\n\r\n<script>&"\u2028x\u202e 🔐' }
    const recipient = { channel: 'email', to: 'zoe@example.com', locale: 'en' } as const
    for (const message of [
      noticeMessage(hostile, recipient, 'app-bound'),
      backupMessage(hostile, recipient, ['AAAA-BBBB']),
    ]) {
      const { mail, ...read } = await parsed(queued(message))
      expect(mail?.to).toEqual(['zoe@example.com'])
      expect(read.headers.map((header) => header.key)).not.toContain('bcc')
      expect(read.subject).toContain('V Bcc: eve@example.com <script>&"')
      expect(read.subject).toContain('🔐')
      expect(read.html).not.toContain('<script>')
    }
  })

  test('counts as the fault that the response says', () =>
    everyCase(
      [
        [{ at: 'to', code: 550, text: '5.1.1 unknown' }, 'contact'],
        [{ at: 'to', code: 550 }, 'contact'],
        [{ at: 'to', code: 552, text: '5.2.2 mailbox full' }, 'contact'],
        [{ at: 'to', code: 550, text: '5.7.1 relaying denied' }, 'carrier'],
        [{ at: 'to', code: 554 }, 'carrier'],
        [{ at: 'mail', code: 550, text: '5.1.8 bad sender' }, 'carrier'],
        [{ at: 'mail', code: 550 }, 'carrier'],
        [{ at: 'data', code: 552, text: '5.3.4 too big' }, 'carrier'],
        [{ at: 'data', code: 554, text: '5.7.1 spam' }, 'carrier'],
        [{ at: 'to', code: 451 }, 'deferred'],
        [{ at: 'to', code: 450, text: '4.2.0 greylisted' }, 'deferred'],
        [{ at: 'data', code: 452 }, 'deferred'],
        [{ at: 'data', code: 421 }, 'outage'],
      ] as const,
      async ([answer, fault]) => {
        server.answerWith(answer)
        const error = await rejection(deliver(address(), message('email')))
        server.answerWith(undefined)
        expect(error).toMatchObject({ name: 'DeliveryError', fault })
        expect(error.message).toContain(String(answer.code))
      },
    ))

  test('is not blamed for wrong credentials or a server that is down', async () => {
    const wrongLogin = `smtp://vault:wrong@127.0.0.1:${server.port}?${FROM}`
    expect(await rejection(deliver(wrongLogin, message('email')))).toMatchObject({
      message: 'The mail server refuses the user or the password (535).',
      fault: 'carrier',
      details: { setup: 'carrier.login_refused' },
    })
    const down = `smtp://127.0.0.1:1?${FROM}`
    expect(await rejection(deliver(down, message('email')))).toMatchObject({ fault: 'outage' })
  })

  test('is sent over a pool of connections, which are reused', async () => {
    const before = server.connections()
    const carrier = smtpCarrier(settingsOf(`${address()}&connections=3`))
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 20 }, () => carrier.deliver(message('email'), AbortSignal.timeout(5_000))),
      )
    }
    await carrier.close?.()
    expect(server.connections() - before).toBeLessThanOrEqual(3)
  })

  test('that still waits for a connection at its time limit is never sent', async () => {
    const carrier = smtpCarrier(settingsOf(`${address()}&connections=1`))
    const before = server.arrived.length
    server.answer('no response')
    const stuck = carrier.deliver(message('email'), AbortSignal.timeout(300))
    const waiting = carrier.deliver(message('email'), AbortSignal.timeout(50))
    expect(await rejection(waiting)).toMatchObject({ fault: 'outage' })
    expect(await rejection(stuck)).toMatchObject({ fault: 'outage' })
    server.answer('accept')
    await carrier.deliver(message('email'), AbortSignal.timeout(5_000))
    await carrier.close?.()
    expect(server.arrived).toHaveLength(before + 1)
  })
})

describe('the check of a mail server', () => {
  test('passes with the right credentials, and fails with wrong ones or without a server', async () => {
    const server = await mailServer()
    const check = async (address: string) => {
      const carrier = smtpCarrier(settingsOf(address))
      await carrier.check?.(AbortSignal.timeout(5_000)).finally(() => carrier.close?.())
    }
    await check(`smtp://vault:p%25w%40rd@127.0.0.1:${server.port}?${FROM}`)
    const wrong = await rejection(check(`smtp://vault:wrong@127.0.0.1:${server.port}?${FROM}`))
    expect(wrong).toMatchObject({ fault: 'carrier' })
    await server.close()
    expect(await rejection(check(`smtp://127.0.0.1:${server.port}?${FROM}`))).toMatchObject({
      fault: 'outage',
    })
    expect(server.arrived).toEqual([])
  })
})
