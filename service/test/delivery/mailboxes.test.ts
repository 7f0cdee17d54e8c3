import { createService } from '@countersign/service'
import { deliverableContact } from 'countersign/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { smtpCarrier } from '../../src/messages/carriers/smtp.js'
import type { Carrier } from '../../src/messages/delivery/carrier.js'
import { type MailServer, mailServer } from './mail-server.js'
import { message } from './queued-messages.js'

/*
 * Mailboxes as users have them. Carriers get one address, which is never parsed again, and all spellings of it are one account.
 */

describe('over SMTP, a mailbox gets its own mail (R88)', () => {
  let server: MailServer
  let carrier: Carrier
  beforeAll(async () => {
    server = await mailServer()
    const { routes } = parseDelivery(`smtp://127.0.0.1:${server.port}?from=no-reply%40vault.example`)
    const [route] = routes.email ?? []
    if (route?.by !== 'smtp') throw new Error('The address leads to no mail server.')
    carrier = smtpCarrier(route.settings)
  })
  afterAll(async () => {
    await carrier.close?.()
    await server.close()
  })
  const recipientsOf = async (to: string) => {
    await carrier.deliver(message('email', { to }), AbortSignal.timeout(5_000))
    return server.arrived.at(-1)?.to
  }

  test('whatever characters HTML accepts are in it', async () => {
    const name = fc
      .array(fc.constantFrom(..."abXY09!#$%&'*+/=?^_`{|}~-"), { minLength: 1, maxLength: 12 })
      .map((characters) => characters.join(''))
    const names = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
    const property = fc.asyncProperty(names, async (local) => {
      expect(await recipientsOf(`${local}@example.com`)).toEqual([`${local}@example.com`])
    })
    await fc.assert(property, { numRuns: 200 })
  })

  test('with a domain of any script, in ASCII', () =>
    everyCase(
      [
        ['user@münchen.de', 'user@xn--mnchen-3ya.de'],
        ['R&D@MÜNCHEN.de', 'R&D@xn--mnchen-3ya.de'],
        ['user@пример.рф', 'user@xn--e1afmkfd.xn--p1ai'],
        ['user@xn--e1afmkfd.xn--p1ai', 'user@xn--e1afmkfd.xn--p1ai'],
      ] as const,
      async ([to, address]) => {
        // The server shows domains as they are read.
        const [recipient = ''] = (await recipientsOf(to)) ?? []
        expect(deliverableContact({ kind: 'email', email: recipient })).toMatchObject({ email: address })
        expect(server.arrived.at(-1)?.content).toContain(`\r\nTo: ${address}\r\n`)
      },
    ))
})

describe('the service', async () => {
  const service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for mailboxes as users write them, long enough',
    applicationName: 'Vault',
    transcriber: 'off',
    delivery: 'inbox',
  })
  afterAll(() => service.close())
  const send = (email: string) => service.mfa.send({ method: 'email', contact: { kind: 'email', email } })
  const newest = async () => (await service.inbox?.messages())?.[0]
  const verify = (email: string, code: string) =>
    service.mfa.verify({ method: 'email', contact: { kind: 'email', email }, code, kind: 'code' })

  it.each([
    ['münchen.de', 'user@MÜNCHEN.de', 'user@xn--mnchen-3ya.de', 'user@xn--mnchen-3ya.de'],
    ['пример.рф', 'Ann@пример.рф', 'ANN@XN--E1AFMKFD.XN--P1AI', 'Ann@xn--e1afmkfd.xn--p1ai'],
    ['a full stop of another script', 'user@例子。中国', 'user@例子.中国', 'user@xn--fsqu00a.xn--fiqs8s'],
    ['signs', "R&D'=x@example.com", "r&d'=x@EXAMPLE.com", "R&D'=x@example.com"],
  ])(
    'sends to %s, and takes two spellings of a mailbox for one (R29)',
    async (_, written, other, address) => {
      expect(await send(written)).toMatchObject({ outcome: 'sent' })
      const sent = await newest()
      expect(sent?.to).toBe(address)
      expect(await service.inbox?.messages({ to: written })).toHaveLength(1)
      const code = /\b\d{6}\b/.exec(sent?.text ?? '')?.[0] ?? ''
      expect(await verify(other, code)).toMatchObject({ outcome: 'valid' })
      // One code for each sign-in, whichever spelling it was sent to.
      expect(await verify(written, code)).not.toMatchObject({ outcome: 'valid' })
    },
  )

  it('counts wrong codes of every spelling together (R29)', async () => {
    await send('eve@bücher.example')
    const spellings = ['eve@bücher.example', 'EVE@BÜCHER.example', 'eve@xn--bcher-kva.example']
    const code = /\b\d{6}\b/.exec((await newest())?.text ?? '')?.[0] ?? ''
    const wrong = code === '000000' ? '000001' : '000000'
    for (let attempt = 0; attempt < 9; attempt++) await verify(spellings[attempt % 3] ?? '', wrong)
    for (const spelling of spellings) {
      expect(await verify(spelling, code)).not.toMatchObject({ outcome: 'valid' })
    }
  })

  it('refuses what it could not deliver to exactly one mailbox (R79, R88)', () =>
    everyCase(
      [
        '"john doe"@example.com',
        'josé@example.com',
        'user@[192.0.2.1]',
        'a@example.com,b@example.com',
        'user@ü.123',
      ],
      async (email) => {
        await expect(send(email)).rejects.toThrow()
      },
    ))
})
