import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { missing } from '../../../test/kit/debian-packages.js'
import { everyCase } from '../../../test/kit/every-case.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { diagnoseCarriers } from '../../src/operator/diagnose-sending.js'
import { openConsole, read } from '../console/kit.js'
import { freshEmail, listen, stopClock } from '../kit.js'
import { mailServer } from './mail-server.js'

const FROM = 'from=no-reply@vault.example'

beforeEach(() => stopClock())
afterEach(() => void vi.useRealTimers())

describe.skipIf(missing('openssl', 'faketime'))('a mail server that cannot be used as it is set up', () => {
  test('refuses the code at once, and is named in the log, the metrics, the doctor and on the overview', () =>
    everyCase(
      [
        [
          { tls: 'starttls' },
          ({ port }) => `smtp://127.0.0.1:${port}?${FROM}`,
          'carrier.certificate_refused',
          'The certificate of the mail server is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).',
          /add ca= to its address in SERVICE_DELIVERY/,
        ],
        [
          { tls: 'smtps', isExpired: true },
          ({ port, certificate }) => `smtps://127.0.0.1:${port}?${FROM}&ca=${certificate}`,
          'carrier.certificate_refused',
          'The certificate of the mail server has expired (CERT_HAS_EXPIRED).',
          /^Renew it at the mail server/,
        ],
        [
          {},
          ({ port }) => `smtp://127.0.0.1:${port}?${FROM}&tls=required`,
          'carrier.starttls_missing',
          'The mail server does not offer STARTTLS (500).',
          /smtps:\/\/ or another port/,
        ],
        [
          {},
          ({ port }) => `smtp://vault:wrong@127.0.0.1:${port}?${FROM}`,
          'carrier.login_refused',
          'The mail server refuses the user or the password (535).',
          /^Check user and password/,
        ],
      ] as const satisfies readonly [
        Parameters<typeof mailServer>[0],
        (server: Awaited<ReturnType<typeof mailServer>>) => string,
        string,
        string,
        RegExp,
      ][],
      async ([options, addressOf, event, sentence, remedy]) => {
        const server = await mailServer(options)
        const delivery = { email: addressOf(server), sms: 'inbox' }
        const console = await openConsole({}, { delivery })
        try {
          // No attempt would end this fault, so the code does not wait for one.
          const sent = await console.service.mfa.send({ method: 'email', contact: freshEmail() })
          expect(sent).toMatchObject({ outcome: 'refused', refusal: { reason: 'delivery_failed' } })
          expect(server.arrived).toEqual([])
          const detail = `DeliveryError: ${sentence}`
          expect(console.events).toContainEqual({ level: 'error', event, carrier: 'smtp', detail })
          expect(console.events.filter((logged) => logged.event === 'delivery.postponed')).toEqual([])

          const api = await listen(console.service.api)
          const metrics = await (await fetch(`${api.url}/metrics`)).text()
          await api.close()
          expect(metrics).toMatch(new RegExp(`countersign_events_total\\{event="${event}"\\} [1-9]`))

          const [found] = await diagnoseCarriers(parseDelivery(delivery).routes)
          expect(found).toMatchObject({ severity: 'error', subject: 'carriers' })
          const [, advice = ''] = found?.message.split(`smtp: ${sentence} `) ?? []
          expect(advice).toMatch(remedy)

          const { browser } = await console.signUp('viewer')
          // Counts are written once a second.
          await expect
            .poll(() => read(browser, '/console'))
            .toMatch(/warning deliveries In the last 24 hours 0 messages were sent and [1-9] were not/)
          expect(await read(browser, '/console')).toMatch(/ smtp refused [1-9]: /)
          expect(await read(browser, '/console')).toContain(`: ${sentence} `)
        } finally {
          await console.service.close()
          await server.close()
        }
      },
    ))
})
