import { beforeEach, describe, expect, it } from 'vitest'
import type { MfaService } from '../../src/index.js'
import type { Granted } from '../../src/protocol/service.js'
import { stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, signIn } from '../kit/host.js'
import { challenge, login } from '../kit/sign-in.js'
import { signal } from '../kit/signal.js'
import { standInService } from '../kit/stand-in-service.js'

const stateOf = (status: Granted<'deliveryOf'>['status']): Granted<'deliveryOf'> => ({
  status,
  channel: 'sms',
  to: '••• 01',
  updatedAt: 0,
})

/** An app whose service queues every message, and reports the state that `deliveryOf` returns. */
function queueing(
  deliveryOf: () => Promise<Granted<'deliveryOf'> | undefined>,
  outcome: 'queued' | 'sent' = 'queued',
  deliveryReports = false,
) {
  const standIn = standInService()
  const asked: string[] = []
  const service: MfaService = {
    ...standIn.service,
    async send(request) {
      const answer = await standIn.service.send(request)
      if (answer.outcome !== 'sent') return answer
      return { ...answer, outcome, ...(deliveryReports && { deliveryReports: true }) }
    },
    async deliveryOf({ challenge }) {
      asked.push(challenge)
      return deliveryOf()
    },
  }
  return { ...host({ standIn, options: { service } }), asked }
}

let clock: ReturnType<typeof stopClock>
beforeEach(() => {
  clock = stopClock()
})

async function browserOf({ app }: ReturnType<typeof queueing>) {
  const browser = browserAgent(app)
  await login(browser, 'alice').type('form').expect(200)
  await challenge(browser, 'sms').type('form').expect(303)
  return browser
}

describe('a message that is queued when its request is answered', () => {
  it('is shown as undelivered once it failed, with the other factors expanded', () =>
    everyCase(['refused', 'expired'] as const, async (status) => {
      const made = queueing(async () => stateOf(status))
      const browser = await browserOf(made)
      clock.move(2_000)
      const page = await browser.get('/mfa/verify').expect(200)
      expect(page.text).toMatch(
        /Your verification code could not be delivered to .*\. Try another way below\./,
      )
      expect(page.text).toContain('<details class="mfa-trouble" open>')
      expect(page.text).not.toContain('Text messages can take a minute')
      expect(page.text).toContain('value="email')
      expect(made.asked).toHaveLength(1)
      expect(made.standIn.count('send')).toBe(1)
    }))

  it('has its state in JSON', async () => {
    const made = queueing(async () => stateOf('refused'))
    const agent = await signIn(made.app, 'alice')
    await challenge(agent, 'sms').expect(200)
    expect((await agent.get('/mfa').expect(200)).body.challenge.delivery).toBe('queued')
    clock.move(2_000)
    expect((await agent.get('/mfa').expect(200)).body.challenge.delivery).toBe('refused')
  })

  it('is shown as sent once it was sent', async () => {
    const browser = await browserOf(queueing(async () => stateOf('sent')))
    expect((await browser.get('/mfa/verify')).text).toContain('is waiting to be sent')
    clock.move(2_000)
    expect((await browser.get('/mfa/verify')).text).toContain('We texted a verification code to')
  })

  it('keeps its final state on every page load, without another call to the service', async () => {
    const made = queueing(async () => stateOf('refused'))
    const browser = await browserOf(made)
    clock.move(2_000)
    for (let load = 0; load < 10; load++) {
      expect((await browser.get('/mfa/verify').expect(200)).text).toContain('could not be delivered')
      clock.move(5_000)
    }
    expect(made.asked).toHaveLength(1)
  })

  it('is polled by the page only while it is queued', async () => {
    const made = queueing(async () => stateOf('queued'))
    const browser = await browserOf(made)
    const page = await browser.get('/mfa/verify').expect(200)
    expect(page.text).toContain('data-mfa-follow="/mfa/verify" data-mfa-factor="sms"')
    expect(page.headers['content-security-policy']).toContain("connect-src 'self'")
    const sent = await browserOf(queueing(async () => stateOf('sent'), 'sent'))
    expect((await sent.get('/mfa/verify').expect(200)).text).not.toContain('data-mfa-follow')
  })

  it('is not looked up in its first two seconds, nor once it is known to be sent', async () => {
    const fresh = queueing(async () => stateOf('refused'))
    const browser = await browserOf(fresh)
    clock.move(1_999)
    await browser.get('/mfa/verify').expect(200)
    const sent = queueing(async () => stateOf('refused'), 'sent')
    const other = await browserOf(sent)
    clock.move(60_000)
    expect((await other.get('/mfa/verify').expect(200)).text).toContain('We texted a verification code to')
    expect([...fresh.asked, ...sent.asked]).toEqual([])
  })

  it('is followed after it was sent if the service reports what became of it', () =>
    everyCase(
      [
        ['delivered', 'Your verification code was delivered to', 'delivered'],
        ['failed', 'Your verification code could not be delivered to', 'refused'],
      ] as const,
      async ([status, text, shown]) => {
        const made = queueing(async () => stateOf(status), 'sent', true)
        const browser = await browserOf(made)
        const fresh = await browser.get('/mfa/verify').expect(200)
        expect(fresh.text).toContain('data-mfa-state="sent"')
        expect(fresh.text).toContain('We texted a verification code to')
        clock.move(2_000)
        expect((await browser.get('/mfa').set('accept', 'application/json')).body.challenge.delivery).toBe(
          shown,
        )
        const page = await browser.get('/mfa/verify').expect(200)
        expect(page.text).toContain(text)
        expect(page.text).not.toContain('data-mfa-follow')
        expect(page.text.includes('<details class="mfa-trouble" open>')).toBe(status === 'failed')
        expect(made.asked).toHaveLength(1)
      },
    ))

  it('is shown as the session remembers it when the service fails or knows no state', async () => {
    const reports = [
      async () => undefined,
      async () => {
        throw new Error('down')
      },
    ]
    for (const report of reports) {
      const browser = await browserOf(queueing(report))
      clock.move(2_000)
      expect((await browser.get('/mfa/verify').expect(200)).text).toContain('is waiting to be sent')
    }
  })

  it('does not delay the page when the service does not answer', async () => {
    const browser = await browserOf(queueing(() => new Promise(() => {})))
    clock.move(2_000)
    expect((await browser.get('/mfa/verify').expect(200)).text).toContain('is waiting to be sent')
  })

  it('is not shown to a session that ended in the meantime (R07)', async () => {
    const [arrived, released] = [signal(), signal()]
    const made = queueing(async () => {
      arrived.give()
      await released.given
      return stateOf('refused')
    })
    const browser = await browserOf(made)
    clock.move(2_000)
    const late = browser.get('/mfa/verify').then((answer) => answer)
    await arrived.given
    await browser.post('/logout').expect(200)
    released.give()
    expect((await late).text).not.toContain('•••')
  })
})
