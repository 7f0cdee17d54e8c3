import { createPublicKey } from 'node:crypto'
import { type Contact, maskContact } from 'countersign/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { serviceMetrics } from '../../src/api/metrics/metrics.js'
import { buildCarriers } from '../../src/messages/carriers/build-carriers.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { storedInbox } from '../../src/messages/carriers/inbox.js'
import type { DeliveryError } from '../../src/messages/delivery/carrier.js'
import { messageReference } from '../../src/messages/delivery/queued-message.js'
import { createSources } from '../../src/messages/receipts/configured-sources.js'
import { sendgridReports } from '../../src/messages/receipts/sendgrid.js'
import { sesReports } from '../../src/messages/receipts/ses.js'
import { twilioReports } from '../../src/messages/receipts/twilio.js'
import { operator } from '../../src/operator/operator.js'
import { readOptions } from '../../src/run/options.js'
import { apiOver } from '../api-kit.js'
import {
  advance,
  type Bench,
  DeliveryError as Failure,
  freshEmail,
  freshPhone,
  freshTenant,
  listen,
  openBench,
  rejection,
  SECRET,
  stopClock,
} from '../kit.js'
import { opensslMissing } from './mail-server.js'
import {
  CERTIFICATE_URL,
  fromTwilio,
  PUBLIC_URL,
  type SignedRequest,
  sendgrid,
  sns,
  TOKEN,
  TOPIC,
} from './signed-reports.js'

if (opensslMissing) test.skip(opensslMissing, () => {})
else
  describe('delivery reports', () => {
    const mailer = sendgrid()
    const amazon = sns()
    const fetched: string[] = []
    const metrics = serviceMetrics('0.0.0')
    let answerFetch: (url: string) => Promise<string> = async () => amazon.certificate
    let bench: Bench
    let server: Awaited<ReturnType<typeof listen>>
    beforeAll(async () => {
      bench = await openBench()
      const key = createPublicKey({
        key: Buffer.from(mailer.verificationKey, 'base64'),
        format: 'der',
        type: 'spki',
      })
      const fetchText = (url: string) => {
        fetched.push(url)
        return answerFetch(url)
      }
      const reports = {
        twilio: twilioReports(`${PUBLIC_URL}/v1/reports/twilio`, ['an older token', TOKEN]),
        sendgrid: sendgridReports(key),
        ses: sesReports(TOPIC, fetchText),
      }
      const { application } = freshTenant(bench)
      const log: typeof bench.context.log = (event) => {
        bench.context.log(event)
        metrics.countEvent(event)
      }
      server = await listen(apiOver({ ...bench.context, log }, application, { reports, metrics }))
    })
    afterAll(async () => {
      await server.close()
      await bench.close()
    })
    beforeEach(() => stopClock())
    afterEach(() => vi.useRealTimers())

    const post = async ({ path, headers, body }: SignedRequest) => {
      const response = await fetch(server.url + path, { method: 'POST', headers, body })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    }

    /** A code that was sent, the reference of its message, and its state. */
    const sent = async (method: 'sms' | 'email', ...failures: DeliveryError[]) => {
      const { mfa, application } = freshTenant(bench)
      bench.failNext(...failures)
      const answer = await mfa.send({ method, contact: method === 'sms' ? freshPhone() : freshEmail() })
      const challenge = 'challenge' in answer ? String(answer.challenge) : 'none'
      const [row] = await bench.store.query<{ id: string }>('SELECT id FROM outbox WHERE challenge = $1', [
        challenge,
      ])
      const reference = messageReference({ application: application.id, id: row?.id ?? '' })
      return { reference, state: async () => (await mfa.deliveryOf?.({ challenge }))?.status }
    }

    const accepted = { status: 204, body: undefined }
    const unsigned = { status: 403, body: { code: 'invalid_signature' } }

    describe('of Twilio', () => {
      test('say what became of the message', () =>
        everyCase(
          [
            ['delivered', 'delivered'],
            ['read', 'delivered'],
            ['undelivered', 'failed'],
            ['failed', 'failed'],
            ['sent', 'sent'],
            ['queued', 'sent'],
            ['constructor', 'sent'],
          ],
          async ([status, state]) => {
            const message = await sent('sms')
            expect(await post(fromTwilio(message.reference, status))).toEqual(accepted)
            expect(await message.state()).toBe(state)
          },
        ))

      test('move a state only forward, in whatever order and however often they arrive (R105)', async () => {
        const message = await sent('sms')
        for (const status of ['delivered', 'sent', 'queued', 'delivered', 'sending', 'delivered']) {
          expect(await post(fromTwilio(message.reference, status))).toEqual(accepted)
          expect(await message.state()).toBe('delivered')
        }
        const failed = await sent('sms')
        for (const status of ['undelivered', 'delivered', 'sent', 'undelivered']) {
          await post(fromTwilio(failed.reference, status))
          expect(await failed.state()).toBe('failed')
        }
        const events = bench.events.filter(({ message: id }) => failed.reference.startsWith(`${id}.`))
        expect(events.map(({ event }) => event)).toEqual(['delivery.sent', 'report.failed'])
      })

      test('are counted once when they arrive 20 times at once (R105)', async () => {
        const message = await sent('sms')
        const request = fromTwilio(message.reference, 'delivered')
        await Promise.all(Array.from({ length: 20 }, () => post(request)))
        const events = bench.events.filter(({ message: id }) => message.reference.startsWith(`${id}.`))
        expect(events.map(({ event }) => event)).toEqual(['delivery.sent', 'report.delivered'])
      })

      test('that arrive before the message is recorded as sent are not lost', async () => {
        const down = () => new Failure('timeout', 'outage')
        const delivered = await sent('sms', down())
        expect(await delivered.state()).toBe('queued')
        await post(fromTwilio(delivered.reference, 'delivered'))
        expect(await delivered.state()).toBe('delivered')
        const before = bench.messages.length
        advance(3)
        await bench.context.outbox.poll()
        expect(bench.messages).toHaveLength(before)

        const failed = await sent('sms', down())
        await post(fromTwilio(failed.reference, 'undelivered'))
        expect(await failed.state()).toBe('queued')
        advance(3)
        await bench.context.outbox.poll()
        expect(await failed.state()).toBe('failed')

        // A message that failed was not delivered, in whatever order the reports arrive.
        const both = await sent('sms', down())
        for (const status of ['undelivered', 'delivered']) await post(fromTwilio(both.reference, status))
        expect(await both.state()).toBe('queued')
        advance(3)
        await bench.context.outbox.poll()
        expect(await both.state()).toBe('failed')
      })

      test('that are not signed correctly are rejected, and change nothing (R105)', () =>
        everyCase(
          [
            [
              'another token',
              (reference: string) => fromTwilio(reference, 'delivered', { token: 'guessed' }),
            ],
            [
              'another address',
              (reference: string) =>
                fromTwilio(reference, 'delivered', { address: 'http://mfa.example/auth/v1/reports/twilio' }),
            ],
            [
              'another message',
              (reference: string) => {
                const other = `${reference.startsWith('x') ? 'y' : 'x'}${reference.slice(1)}`
                const request = fromTwilio(other, 'delivered')
                return { ...request, path: `/v1/reports/twilio?message=${reference}` }
              },
            ],
            [
              'another status',
              (reference: string) => {
                const request = fromTwilio(reference, 'sent')
                return { ...request, body: request.body.replace('=sent', '=delivered') }
              },
            ],
            [
              'a parameter that is not signed',
              (reference: string) => {
                const request = fromTwilio(reference, 'delivered')
                return { ...request, body: `${request.body}&ErrorCode=30003` }
              },
            ],
            [
              'no signature',
              (reference: string) => ({
                ...fromTwilio(reference, 'delivered'),
                headers: { 'content-type': 'text/plain' },
              }),
            ],
            [
              'half a signature',
              (reference: string) => {
                const request = fromTwilio(reference, 'delivered')
                const signature = request.headers['x-twilio-signature']?.slice(0, 12) ?? ''
                return { ...request, headers: { ...request.headers, 'x-twilio-signature': signature } }
              },
            ],
          ],
          async ([_what, request]) => {
            const message = await sent('sms')
            expect(await post(request(message.reference))).toMatchObject(unsigned)
            expect(await message.state()).toBe('sent')
          },
        ))

      test('about an unknown message, or with a parameter twice, change nothing', async () => {
        const unknown = `${'A'.repeat(22)}.vault`
        expect(await post(fromTwilio(unknown, 'delivered'))).toEqual(accepted)
        for (const reference of [
          '',
          'x',
          `${'A'.repeat(22)}.vault/test`,
          `${'A'.repeat(22)}.${'a'.repeat(60)}`,
        ]) {
          expect(await post(fromTwilio(reference, 'delivered'))).toMatchObject({ status: 400 })
        }
        const message = await sent('sms')
        const twice = fromTwilio(message.reference, 'sent', { more: [['MessageStatus', 'delivered']] })
        expect(await post(twice)).toMatchObject({ status: 400 })
        expect(await message.state()).toBe('sent')
      })
    })

    describe('of SendGrid', () => {
      const event = (reference: string, name: string) => ({
        event: name,
        email: 'zoe@example.com',
        'smtp-id': `<${reference}@vault.example>`,
        sg_event_id: 'x',
      })

      test('say what became of the email', () =>
        everyCase(
          [
            ['delivered', 'delivered'],
            ['bounce', 'failed'],
            ['dropped', 'failed'],
            ['spamreport', 'delivered'],
            ['processed', 'sent'],
            ['deferred', 'sent'],
          ],
          async ([name, state]) => {
            const mail = await sent('email')
            expect(await post(mailer.post([event(mail.reference, name)]))).toEqual(accepted)
            expect(await mail.state()).toBe(state)
          },
        ))

      test('are read in groups, and a mailbox may bounce a message that its server accepted', async () => {
        const [one, two] = [await sent('email'), await sent('email')]
        const events = [
          event(one.reference, 'delivered'),
          event(two.reference, 'delivered'),
          ...[null, 7, {}, { event: 'bounce' }, { event: 'bounce', 'smtp-id': '<other@example.com>' }],
          event(two.reference, 'bounce'),
          event(two.reference, 'delivered'),
        ]
        expect(await post(mailer.post(events))).toEqual(accepted)
        expect([await one.state(), await two.state()]).toEqual(['delivered', 'failed'])
      })

      test('that were changed, or signed more than a day ago, are rejected (R105)', async () => {
        const mail = await sent('email')
        const request = mailer.post([event(mail.reference, 'deferred')])
        const changed = { ...request, body: request.body.replace('deferred', 'bounce') }
        const other = sendgrid().post([event(mail.reference, 'bounce')])
        const old = mailer.post([event(mail.reference, 'bounce')], Date.now() - 86_401_000)
        const early = mailer.post([event(mail.reference, 'bounce')], Date.now() + 86_401_000)
        for (const bad of [changed, other, old, early]) expect(await post(bad)).toMatchObject(unsigned)
        expect(await mail.state()).toBe('sent')
      })

      test('with a body that is no report are refused', () =>
        everyCase(['', '{}', 'null', '[', '<html>'], async (body) => {
          expect(await post(mailer.post(body))).toMatchObject({
            status: 400,
            body: { code: 'invalid_request' },
          })
        }))
    })

    describe('of Amazon SES', () => {
      test('say what became of the email, by both versions of the signature', () =>
        everyCase(
          [
            ['Delivery', 'delivered', '1'],
            ['Bounce', 'failed', '2'],
            ['Complaint', 'delivered', '1'],
            ['DeliveryDelay', 'sent', '2'],
          ],
          async ([kind, state, SignatureVersion]) => {
            const mail = await sent('email')
            expect(await post(amazon.ses(mail.reference, kind, { SignatureVersion }))).toEqual(accepted)
            expect(await mail.state()).toBe(state)
          },
        ))

      test('are verified with a certificate that is fetched once', async () => {
        const mail = await sent('email')
        await post(amazon.ses(mail.reference, 'Delivery'))
        expect(fetched.filter((url) => url === CERTIFICATE_URL)).toHaveLength(1)
      })

      test('that are not from Amazon are rejected, and nothing is fetched (R105)', () =>
        everyCase(
          [
            { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail-events' },
            {
              SigningCertURL:
                'https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-1.pem',
            },
            { SigningCertURL: 'https://evil.example/SimpleNotificationService-1.pem' },
            { SigningCertURL: 'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem' },
            { SigningCertURL: 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem' },
            { SigningCertURL: 'https://x@sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem' },
            { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/?Action=SimpleNotificationService-1.pem' },
            { SigningCertURL: 'https://sns.eu-west-1.amazonaws.com:444/SimpleNotificationService-1.pem' },
            { SignatureVersion: '3' },
            { SignatureVersion: 'constructor' },
            { Type: 'UnsubscribeConfirmation' },
            { Timestamp: '2027-02-27T11:00:00.000Z' },
            { Timestamp: 'yesterday' },
          ],
          async (changes) => {
            const mail = await sent('email')
            const before = fetched.length
            expect(await post(amazon.ses(mail.reference, 'Bounce', changes))).toMatchObject(unsigned)
            expect(fetched).toHaveLength(before)
            expect(await mail.state()).toBe('sent')
          },
        ))

      test('that were changed or signed by another certificate are rejected (R105)', async () => {
        const mail = await sent('email')
        const request = amazon.ses(mail.reference, 'Delivery')
        const changed = { ...request, body: request.body.replace('Delivery', 'Bounce') }
        expect(await post(changed)).toMatchObject(unsigned)
        expect(await post(sns().ses(mail.reference, 'Bounce'))).toMatchObject(unsigned)
        expect(await mail.state()).toBe('sent')
      })

      test('are asked for again when the certificate cannot be fetched', async () => {
        const mail = await sent('email')
        const SigningCertURL = CERTIFICATE_URL.replace('f3ec', 'aaaa')
        answerFetch = async () => {
          throw new Failure('Amazon SNS did not respond.', 'outage')
        }
        const failed = await post(amazon.ses(mail.reference, 'Delivery', { SigningCertURL }))
        expect(failed).toMatchObject({ status: 503, body: { code: 'unavailable', retry_after: 60 } })
        answerFetch = async () => '<html>no certificate'
        expect(await post(amazon.ses(mail.reference, 'Delivery', { SigningCertURL }))).toMatchObject(unsigned)
        answerFetch = async () => amazon.certificate
        expect(await post(amazon.ses(mail.reference, 'Delivery', { SigningCertURL }))).toEqual(accepted)
        expect(await mail.state()).toBe('delivered')
      })

      test('begin when the service confirms the subscription of its topic, at Amazon only', async () => {
        const url = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37'
        expect(await post(amazon.confirmation(url))).toEqual(accepted)
        expect(fetched.at(-1)).toBe(url)
        const before = fetched.length
        const elsewhere = amazon.confirmation('https://evil.example/?Action=ConfirmSubscription')
        expect(await post(elsewhere)).toMatchObject({ status: 400 })
        const foreign = amazon.confirmation(url, { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:theirs' })
        expect(await post(foreign)).toMatchObject(unsigned)
        expect(fetched).toHaveLength(before)
      })
    })

    test('come from the providers that the options name', async () => {
      const { routes } = parseDelivery(
        `sms=twilio://AC1:${encodeURIComponent(TOKEN)}@api.twilio.com?from=+447700900999`,
      )
      expect(Object.keys(createSources({ routes }))).toEqual([])
      const { twilio } = createSources({ routes, publicUrl: PUBLIC_URL })
      const reference = `${'A'.repeat(22)}.vault`
      const { path, headers, body } = fromTwilio(reference, 'delivered')
      const request = {
        query: path.slice(path.indexOf('?') + 1),
        header: (name: string) => headers[name],
        body: Buffer.from(body),
      }
      expect(await twilio?.(request)).toEqual([
        { id: 'A'.repeat(22), application: 'vault', outcome: 'delivered' },
      ])
      const options = {
        secret: SECRET,
        delivery: 'inbox',
        sesTopic: TOPIC,
        sendgridVerificationKey: mailer.verificationKey,
      }
      expect(Object.keys(createSources(readOptions(options)))).toEqual(['ses', 'sendgrid'])
      const wrong = { ...options, sesTopic: 'mail-events', sendgridVerificationKey: 'MFkw' }
      expect(() => readOptions(wrong)).toThrow(
        /sesTopic must be the ARN of a topic.*\n.*sendgridVerificationKey must be the public key/s,
      )
    })

    describe('of spam', () => {
      /** A user of an application of its own, who gets a code by email. */
      const mailed = async () => {
        const { mfa, application } = freshTenant(bench)
        const ann = operator(bench.store, 'ann')
        await ann.createApplication(application.id)
        const contact = { kind: 'email', email: `Zoe${freshEmail().email}` } as const
        const send = (to: Contact = contact) =>
          mfa.send({ method: to.kind === 'email' ? 'email' : 'sms', contact: to })
        await send()
        const [row] = await bench.store.query<{ id: string }>(
          'SELECT id FROM outbox WHERE application = $1',
          [application.id],
        )
        const reference = messageReference({ application: application.id, id: row?.id ?? '' })
        return { application: application.id, ann, contact, reference, send, mfa }
      }
      const complaintOf = (emailAddress: string, more = {}) => ({
        complaint: { complainedRecipients: [{ emailAddress }], ...more },
      })
      const suppressed = {
        outcome: 'refused',
        refusal: {
          reason: 'contact_refused',
          detail: expect.stringContaining('reported an earlier email as spam'),
        },
      }

      test('end all mail of the application to the mailbox, until an operator lifts it', () =>
        everyCase(['ses', 'sendgrid'], async (by) => {
          const { application, ann, contact, reference, send, mfa } = await mailed()
          const other = freshTenant(bench)
          const email = contact.email.toLowerCase()
          const spam = { event: 'spamreport', 'smtp-id': `<${reference}@vault.example>`, email }
          const report =
            by === 'ses' ? amazon.ses(reference, 'Complaint', {}, complaintOf(email)) : mailer.post([spam])
          for (let i = 0; i < 2; i++) expect(await post(report)).toEqual(accepted)

          expect(await send()).toEqual(suppressed)
          expect(await send({ kind: 'email', email })).toEqual(suppressed)
          expect(await mfa.sendBackupCodes({ method: 'email', contact })).toEqual(suppressed)
          expect(await send(freshEmail())).toMatchObject({ outcome: 'sent' })
          expect(await send(freshPhone())).toMatchObject({ outcome: 'sent' })
          expect(await other.mfa.send({ method: 'email', contact })).toMatchObject({ outcome: 'sent' })

          const mailbox = maskContact({ kind: 'email', email })
          expect(await ann.listComplaints(application)).toEqual([{ mailbox, complainedAt: Date.now() }])
          await ann.liftComplaint(application, contact.email)
          expect(await send()).toMatchObject({ outcome: 'sent' })
          expect((await rejection(ann.liftComplaint(application, contact.email))).message).toContain(
            'complaint list',
          )
          // The same report cannot end the mail again.
          expect(await post(report)).toEqual(accepted)
          expect(await ann.listComplaints(application)).toEqual([])
          const [lifted, ended] = await ann.listAudit({ application, limit: 2 })
          expect(lifted).toMatchObject({ actor: 'ann', action: 'mail.allowed', detail: mailbox })
          expect(ended).toMatchObject({
            actor: 'service',
            action: 'mail.suppressed',
            detail: `${mailbox} reported a mail as spam`,
          })
        }))

      test('that are not about a mailbox end nothing', () =>
        everyCase(
          [
            [
              'take a mail out of the spam folder',
              (email: string) => complaintOf(email, { complaintFeedbackType: 'not-spam' }),
            ],
            ['name another mailbox', () => complaintOf('someone.else@other.example')],
            ['name no mailbox', () => ({})],
          ],
          async ([_, details]) => {
            const { application, ann, contact, reference, send } = await mailed()
            expect(await post(amazon.ses(reference, 'Complaint', {}, details(contact.email)))).toEqual(
              accepted,
            )
            expect(await ann.listComplaints(application)).toEqual([])
            expect(await send()).toMatchObject({ outcome: 'sent' })
          },
        ))
    })

    test.each([
      'smtp://mail.example?from=a@b.example',
      'ses://AKID:x@email.eu-west-1.amazonaws.com?from=a@b.example',
    ])('are announced for the channels of carriers that send them, with email by %s', (address) => {
      const { routes } = parseDelivery(
        `sms=twilio://AC1:x@api.twilio.com?from=+447700900999|inbox,email=${address},*=inbox`,
      )
      const { store, keys, log } = bench.context
      const parts = { inbox: storedInbox(store, keys), webhookSecret: 'x', log }
      const reporting = (more: object) =>
        Object.entries(buildCarriers(routes, { ...parts, ...more }).byChannel).flatMap(
          ([channel, carrier]) => (carrier?.reports ? [channel] : []),
        )
      expect(reporting({})).toEqual([])
      expect(reporting({ reportAddress: 'https://mfa.example/v1/reports/twilio' })).toEqual(['sms'])
      expect(reporting({ mailReports: true })).toEqual(['email'])
    })

    test('of other providers, by other methods or larger than 1 MB are refused', async () => {
      const request = fromTwilio(`${'A'.repeat(22)}.vault`, 'delivered')
      expect(await post({ ...request, path: '/v1/reports/constructor' })).toMatchObject({ status: 404 })
      expect((await fetch(`${server.url}/v1/reports/twilio`)).status).toBe(405)
      const huge = { ...request, body: 'x'.repeat(1_048_577) }
      expect(await post(huge)).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
      const { application } = freshTenant(bench)
      const without = await listen(apiOver(bench.context, application))
      const { path, headers, body } = request
      expect((await fetch(without.url + path, { method: 'POST', headers, body })).status).toBe(404)
      await without.close()
    })

    test('are in the metrics and the log, without contacts', async () => {
      const mail = await sent('email')
      const [spam] = [{ event: 'spamreport', 'smtp-id': `<${mail.reference}@vault.example>` }]
      for (let i = 0; i < 3; i++) await post(mailer.post([spam]))
      const complaints = bench.events.filter(
        ({ event, message: id }) => event === 'report.complaint' && mail.reference.startsWith(`${id}.`),
      )
      expect(complaints).toMatchObject([{ level: 'warn', channel: 'email', carrier: 'sendgrid' }])
      const { text } = await metrics.read()
      for (const labels of [
        'provider="sendgrid",outcome="complaint"',
        'provider="twilio",outcome="delivered"',
        'provider="ses",outcome="failed"',
        'provider="twilio",outcome="rejected"',
      ]) {
        expect(text).toMatch(new RegExp(`countersign_delivery_reports_total\\{${labels}\\} [1-9]`))
      }
      expect(JSON.stringify(bench.events)).not.toMatch(/zoe@|7700900123/)
    })
  })
