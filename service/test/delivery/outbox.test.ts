import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { signal } from '../../../test/kit/signal.js'
import { timesPassed } from '../../../test/kit/times-passed.js'
import type { Senders } from '../../src/accounts/application.js'
import { simulatedCarrier } from '../../src/flows/test-mode/simulated-carrier.js'
import { activityCounter } from '../../src/messages/activity/count-activity.js'
import { addBreaker } from '../../src/messages/carriers/fallback.js'
import { storedInbox } from '../../src/messages/carriers/inbox.js'
import { smtpCarrier } from '../../src/messages/carriers/smtp.js'
import { type Carrier, DeliveryError, type OutgoingMessage } from '../../src/messages/delivery/carrier.js'
import { type ApplicationDelivery, pollTimer, storedOutbox } from '../../src/messages/delivery/outbox.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import { CHANNELS } from '../../src/messages/message.js'
import { codeMessage } from '../../src/messages/texts/compose.js'
import { openStore } from '../../src/store/open.js'
import { StoreUnavailableError } from '../../src/store/outages.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import type { Store } from '../../src/store/store.js'
import type { Logger } from '../../src/telemetry/log/logger.js'
import { advance, eventually, SECRET, stopClock } from '../kit.js'
import { postgresMissing, startPostgres } from '../postgres.js'
import { mailServer } from './mail-server.js'
import { VAULT } from './queued-messages.js'

const keys = deriveKeys(SECRET)
const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const

/** An email to a mailbox. */
function mail(name = 'zoe') {
  return codeMessage(VAULT, { channel: 'email', to: `${name}@example.com`, locale: 'en' }, challenge)
}

/** An outbox with a carrier that runs `deliver`, the messages it accepted, and all attempts. */
function outboxOver(
  store: Store,
  deliver: (message: QueuedMessage, signal: AbortSignal) => Promise<void> = async () => {},
  more: {
    readonly answerWithinMs?: number
    readonly attemptTimeoutMs?: number
    readonly deliveryOf?: (application: string) => Promise<ApplicationDelivery>
    readonly maxInHand?: number
    readonly log?: Logger
  } = {},
) {
  const accepted: OutgoingMessage[] = []
  const attempts: OutgoingMessage[] = []
  const undelivered: QueuedMessage[] = []
  const carrier: Carrier = {
    name: 'test',
    async deliver(message, signal) {
      attempts.push(message)
      await deliver(message, signal)
      accepted.push(message)
      return { id: `accepted-${accepted.length}` }
    },
    async close() {},
  }
  const carriers = Object.fromEntries(CHANNELS.map((channel) => [channel, carrier]))
  const simulated = simulatedCarrier(storedInbox(store, keys))
  return {
    accepted,
    attempts,
    undelivered,
    outbox: storedOutbox({
      ...{
        store,
        keys,
        carriers,
        simulated,
        activity: activityCounter(store, () => {}),
        deliveryOf: async () => ({ senders: {}, carriers: {}, hasComplained: async () => false }),
        log: () => {},
        ...more,
      },
      onUndelivered: async (message) => void undelivered.push(message),
    }),
  }
}

const silence = (_letter: QueuedMessage, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  )

/** A store that can be away for those who use it here. */
function fragile(store: Store) {
  let isAway = false
  const fragileStore: Store = {
    ...store,
    query: async (text, params) => {
      if (isAway) throw new StoreUnavailableError('unreachable', { cause: undefined })
      return store.query(text, params)
    },
  }
  return {
    store: fragileStore,
    leave() {
      isAway = true
    },
    comeBack() {
      isAway = false
    },
  }
}

let applications = 0

/** The outbox of an application that no other test uses. */
function fresh(store: Store) {
  const application = `application-${++applications}`
  const lifeMs = 300_000
  return {
    enqueue: (outbox: ReturnType<typeof outboxOver>['outbox'], messages = [mail()], life = lifeMs) =>
      store.transaction((tx) =>
        outbox.enqueue(tx, application, messages, {
          now: Date.now(),
          expiresAt: Date.now() + life,
          account: 'account:u1',
        }),
      ),
    rows: () =>
      store.query<Record<string, unknown>>('SELECT * FROM outbox WHERE application = $1 ORDER BY id', [
        application,
      ]),
  }
}

describe('the timer of polls', () => {
  test('does not fire at once for a time that is more than 24.8 days away', async () => {
    let polls = 0
    const timer = pollTimer(async () => polls++, 40 * 24 * 3_600_000)
    // Node fires a timer that it cannot represent after a millisecond.
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(polls).toBe(0)
    timer.stop()
  })
})

describe('the outbox', () => {
  let store: Store
  beforeAll(async () => {
    store = await openStore({ dataDir: 'memory://', keyId: keys.id })
  })
  afterAll(() => store.close())
  // Every outbox delivers all messages that are due.
  beforeEach(() => store.query('DELETE FROM outbox'))
  afterEach(() => vi.useRealTimers())

  test('answers queued when a carrier does not respond, and lets it finish', async () => {
    const held = signal()
    const { outbox, accepted } = outboxOver(store, () => held.given, { answerWithinMs: 50 })
    const { enqueue, rows } = fresh(store)
    const messages = await enqueue(outbox)
    expect(await outbox.dispatch(messages)).toEqual({ outcome: 'queued' })
    expect(accepted).toEqual([])
    held.give()
    await outbox.close()
    expect(accepted).toHaveLength(1)
    expect(await rows()).toMatchObject([
      { state: 'sent', carrier: 'test', carrier_id: 'accepted-1', sealed: null },
    ])
  })

  test('sends a mail twice at most that the mail server accepts, and answers too late', async () => {
    const server = await mailServer()
    server.holdAcceptance()
    const carrier = smtpCarrier({
      ...{
        host: '127.0.0.1',
        port: server.port,
        secure: false,
        tls: 'optional',
        from: 'no-reply@vault.example',
      },
    })
    const { outbox, undelivered } = outboxOver(
      store,
      async (...given) => void (await carrier.deliver(...given)),
      {
        ...{ attemptTimeoutMs: 2_500, answerWithinMs: 50 },
      },
    )
    const { enqueue, rows } = fresh(store)
    await outbox.dispatch(await enqueue(outbox))
    await eventually(async () => expect((await rows())[0]).toMatchObject({ attempts: 1 }))
    for (let attempt = 0; attempt < 4; attempt++) {
      await store.query('UPDATE outbox SET due_at = 1 WHERE settled_at IS NULL')
      await outbox.poll()
    }
    expect(server.arrived).toHaveLength(2)
    expect(await rows()).toMatchObject([{ state: 'expired', fault: 'outage', sealed: null }])
    // A code that may arrive stays valid.
    expect(undelivered).toEqual([])
    await outbox.close()
    await carrier.close?.()
    await server.close()
  })

  test('waits at most 3 seconds for a carrier', async () => {
    const { outbox } = outboxOver(store, silence, { attemptTimeoutMs: 3_300 })
    const { enqueue } = fresh(store)
    const messages = await enqueue(outbox)
    const rung = timesPassed(2_950, 3_250)
    expect(await outbox.dispatch(messages)).toEqual({ outcome: 'queued' })
    expect(rung).toEqual([2_950])
    await outbox.close()
  })

  test('aborts a carrier after its time limit, and retries', async () => {
    stopClock()
    const { outbox } = outboxOver(store, silence, { attemptTimeoutMs: 30 })
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox))).toEqual({ outcome: 'queued' })
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 1, fault: 'outage', carrier: 'test' }])
    await outbox.close()
  })

  test('hands each attempt over with the senders of its application at that time, and not with those of another', async () => {
    stopClock()
    const set = new Map<string, Senders>()
    const deliveryOf = async (application: string) => ({
      senders: set.get(application) ?? {},
      carriers: {},
      hasComplained: async () => false,
    })
    const fail = async () => {
      throw new DeliveryError('down', 'outage')
    }
    const { outbox, attempts } = outboxOver(store, fail, { deliveryOf })
    const [one, other] = [fresh(store), fresh(store)]
    const queued = [...(await one.enqueue(outbox)), ...(await other.enqueue(outbox))]
    const name = queued[0]?.application ?? ''
    set.set(name, { emailFrom: 'before@vault.example' })
    await outbox.dispatch(queued)
    set.set(name, { emailFrom: 'after@vault.example' })
    advance(10)
    await outbox.poll()
    const sendersOfAttempts = (application?: string) =>
      attempts.filter((message) => message.application === application).map(({ senders }) => senders)
    expect(sendersOfAttempts(name)).toEqual([
      { emailFrom: 'before@vault.example' },
      { emailFrom: 'after@vault.example' },
    ])
    expect(sendersOfAttempts(queued[1]?.application)).toEqual([{}, {}])
    await outbox.close()
  })

  test('keeps a message queued while its application cannot be read', async () => {
    const deliveryOf = async () => {
      throw new Error('the store is down')
    }
    const { outbox, attempts } = outboxOver(store, undefined, { deliveryOf })
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox))).toEqual({ outcome: 'queued' })
    expect(attempts).toEqual([])
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 0 }])
    await outbox.close()
  })

  test('waits twice as long before each retry, and makes the last one 20 seconds before the message expires', async () => {
    stopClock()
    const { outbox, attempts, undelivered } = outboxOver(store, async () => {
      throw new DeliveryError('down', 'outage')
    })
    const { enqueue, rows } = fresh(store)
    const begun = Date.now()
    await outbox.dispatch(await enqueue(outbox))
    const waits: number[] = []
    while (undelivered.length === 0) {
      const made = attempts.length
      const [row] = await rows()
      const wait = (Number(row?.due_at) - Date.now()) / 1000
      waits.push(wait)
      advance(wait - 0.001)
      await outbox.poll()
      expect(attempts).toHaveLength(made)
      advance(0.001)
      await outbox.poll()
      expect(attempts).toHaveLength(made + 1)
    }
    // An attempt in the last two seconds before that was the last one.
    expect(Date.now() - begun).toBeGreaterThan(278_000)
    expect(Date.now() - begun).toBeLessThanOrEqual(280_000)
    expect(waits.length).toBeGreaterThanOrEqual(7)
    for (const [index, wait] of waits.slice(0, -1).entries()) {
      expect(wait).toBeGreaterThanOrEqual(2 ** (index + 1) * 0.8)
      expect(wait).toBeLessThanOrEqual(2 ** (index + 1) * 1.2)
    }
    expect(await rows()).toMatchObject([
      { state: 'expired', attempts: attempts.length, sealed: null, fault: 'outage', settled_at: Date.now() },
    ])
    await outbox.close()
  })

  test('retries a message that lives a day every ten minutes, for the whole day', async () => {
    stopClock()
    const hours = 24
    const { outbox, attempts, accepted } = outboxOver(store, async ({ expiresAt }) => {
      if (Date.now() < expiresAt - 3_600_000) throw new DeliveryError('down', 'outage')
    })
    const { enqueue, rows } = fresh(store)
    await outbox.dispatch(await enqueue(outbox, [mail()], hours * 3_600_000))
    const gaps: number[] = []
    for (let at = Date.now(); accepted.length === 0; at = Date.now()) {
      const [row] = await rows()
      vi.setSystemTime(Number(row?.due_at))
      gaps.push(Date.now() - at)
      await outbox.poll()
    }
    expect(Math.max(...gaps)).toBeLessThanOrEqual(720_000)
    expect(attempts.length).toBeGreaterThan(hours * 5 - 5)
    expect(await rows()).toMatchObject([{ state: 'sent' }])
    await outbox.close()
  })

  test('delivers backup codes and notices through a mail server that defers each new sender for ten minutes', async () => {
    const mails = await mailServer()
    const seen = new Map<string, number>()
    mails.answerWith((recipient, at) => {
      if (at !== 'to') return undefined
      const first = seen.get(recipient) ?? Date.now()
      seen.set(recipient, first)
      return Date.now() - first < 600_000 ? { at, code: 450, text: '4.2.0 greylisted' } : undefined
    })
    const smtp = addBreaker(
      smtpCarrier({
        ...{ host: '127.0.0.1', port: mails.port, secure: false, tls: 'optional' },
        from: 'no-reply@vault.example',
      }),
      (carrier) => {
        throw new Error(`${carrier} was paused`)
      },
    )
    stopClock()
    const { outbox, accepted } = outboxOver(store, async (message, signal) => {
      await smtp.deliver(message, signal)
    })
    const { enqueue, rows } = fresh(store)
    const names = Array.from({ length: 8 }, (_, i) => `p${i}`)
    const hour = await enqueue(outbox, names.map(mail), 3_600_000)
    expect(await outbox.dispatch(hour)).toEqual({ outcome: 'queued' })
    for (let minute = 0; minute < 30 && accepted.length < 8; minute++) {
      advance(60)
      await outbox.poll()
    }
    expect(mails.arrived.map(({ to }) => to[0]).sort()).toEqual(names.map((name) => `${name}@example.com`))
    expect((await rows()).every(({ state }) => state === 'sent')).toBe(true)
    await outbox.close()
    await smtp.close?.()
    await mails.close()
  })

  test('makes no attempt before the carrier allows it', async () => {
    stopClock()
    const { outbox } = outboxOver(store, async () => {
      throw new DeliveryError('busy', 'outage', { retryAfterMs: 90_000 })
    })
    const { enqueue, rows } = fresh(store)
    await outbox.dispatch(await enqueue(outbox))
    const [row] = await rows()
    expect(Number(row?.due_at) - Date.now()).toBeGreaterThanOrEqual(90_000)
    expect(Number(row?.due_at) - Date.now()).toBeLessThanOrEqual(99_000)
    await outbox.close()
  })

  test('gives a message up at once when the carrier allows no attempt before it expires', async () => {
    stopClock()
    const { outbox, undelivered } = outboxOver(store, async () => {
      throw new DeliveryError('busy', 'outage', { retryAfterMs: 600_000 })
    })
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox))).toEqual({ outcome: 'failed' })
    expect(await rows()).toMatchObject([{ state: 'expired', attempts: 1, sealed: null }])
    expect(undelivered).toHaveLength(1)
    await outbox.close()
  })

  test('says why a contact cannot be reached', async () => {
    const { outbox, undelivered } = outboxOver(store, async () => {
      throw new DeliveryError('no such number', 'contact', { contact: 'unknown' })
    })
    const { enqueue } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox))).toEqual({ outcome: 'failed', contact: 'unknown' })
    expect(undelivered).toHaveLength(1)
    await outbox.close()
  })

  test('polls again when the next message is due, however soon', async () => {
    const { outbox, accepted } = outboxOver(store)
    const { enqueue } = fresh(store)
    for (const [i, dueInMs] of [200, 400, 700].entries()) {
      const [message] = await enqueue(outbox, [mail(`p${i}`)])
      await store.query('UPDATE outbox SET due_at = $2 WHERE id = $1', [
        message?.id ?? '',
        Date.now() + dueInMs,
      ])
    }
    const rung = timesPassed(4_500)
    await outbox.poll()
    await eventually(() => expect(accepted.map(({ to }) => to[1])).toEqual(['0', '1', '2']))
    expect(rung).toEqual([])
    await outbox.close()
  })

  test('polls again immediately for a message that became due during a poll', async () => {
    stopClock()
    const slow = {
      ...store,
      query: (async (text, params) => {
        const found = await store.query(text, params)
        if (text.includes('SKIP LOCKED')) advance(1)
        return found
      }) as Store['query'],
    }
    const { outbox, accepted } = outboxOver(slow)
    const [message] = await fresh(store).enqueue(outbox)
    await store.query('UPDATE outbox SET due_at = $2 WHERE id = $1', [message?.id ?? '', Date.now() + 500])
    const rung = timesPassed(4_500)
    await outbox.poll()
    await eventually(() => expect(accepted).toHaveLength(1))
    expect(rung).toEqual([])
    await outbox.close()
  })

  test('makes no attempt after the code has expired, to the millisecond', async () => {
    stopClock()
    let isDown = true
    const { outbox, attempts } = outboxOver(store, async () => {
      if (isDown) throw new DeliveryError('down', 'outage')
    })
    const dying = fresh(store)
    // The user could not enter the code any more after another attempt.
    expect(await outbox.dispatch(await dying.enqueue(outbox, [mail()], 21_599))).toEqual({
      outcome: 'failed',
    })
    expect(await dying.rows()).toMatchObject([{ state: 'expired', attempts: 1 }])
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox, [mail()], 23_000))).toEqual({ outcome: 'queued' })
    isDown = false
    advance(23)
    await outbox.poll()
    expect(attempts).toHaveLength(2)
    expect(await rows()).toMatchObject([{ state: 'expired', sealed: null }])
    await outbox.close()
  })

  test('another process takes over the message of a dead process after 15 seconds, not before', async () => {
    stopClock()
    const dead = outboxOver(store)
    const { outbox, accepted } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    // Written and leased, then the process died.
    await enqueue(dead.outbox)
    advance(14.999)
    await outbox.poll()
    expect(accepted).toEqual([])
    advance(0.001)
    await outbox.poll()
    expect(accepted).toHaveLength(1)
    expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1 }])
    await Promise.all([dead.outbox.close(), outbox.close()])
  })

  test('a message that was taken belongs to one process for 15 seconds, also after a late failure of a former one', async () => {
    stopClock()
    let [fail, accept] = [() => {}, () => {}]
    const former = outboxOver(
      store,
      () => new Promise((_resolve, reject) => (fail = () => reject(new DeliveryError('no', 'outage')))),
    )
    const holder = outboxOver(store, () => new Promise((resolve) => (accept = () => resolve())))
    const other = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const answered = former.outbox.dispatch(await enqueue(former.outbox))
    await eventually(() => expect(former.attempts).toHaveLength(1))
    advance(15)
    const polled = holder.outbox.poll()
    await eventually(() => expect(holder.attempts).toHaveLength(1))
    await other.outbox.poll()
    fail()
    await answered
    advance(14)
    await other.outbox.poll()
    expect(other.attempts).toEqual([])
    accept()
    await polled
    expect(await rows()).toMatchObject([{ state: 'sent', fault: null, attempts: 1 }])
    await Promise.all([former, holder, other].map(({ outbox }) => outbox.close()))
  })

  test('hands nothing over again that a carrier accepted while the store was away, and records it', async () => {
    stopClock()
    const { store: shaky, leave, comeBack } = fragile(store)
    const { outbox, accepted } = outboxOver(shaky, async () => leave())
    const { enqueue, rows } = fresh(store)
    const messages = await enqueue(outbox)
    expect(await outbox.dispatch(messages)).toEqual({ outcome: 'sent' })
    expect(await rows()).toMatchObject([{ state: 'queued' }])
    advance(15)
    comeBack()
    for (let poll = 0; poll < 5; poll++) {
      await outbox.poll()
      advance(15)
    }
    await eventually(async () =>
      expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1, carrier_id: 'accepted-1' }]),
    )
    expect(accepted).toHaveLength(1)
    await outbox.close()
  })

  test('leaves others six seconds after the store was away, to record what they sent', async () => {
    stopClock()
    const dead = outboxOver(store)
    const { store: shaky, leave, comeBack } = fragile(store)
    const { outbox, accepted } = outboxOver(shaky)
    await fresh(store).enqueue(dead.outbox)
    leave()
    advance(15)
    await expect(outbox.poll()).rejects.toThrow('unreachable')
    comeBack()
    await outbox.poll()
    advance(5.999)
    await outbox.poll()
    expect(accepted).toEqual([])
    advance(0.001)
    await outbox.poll()
    expect(accepted).toHaveLength(1)
    await Promise.all([dead.outbox.close(), outbox.close()])
  })

  test('hands nothing more over while as many messages as it may remember are not recorded', async () => {
    stopClock()
    const { store: shaky, leave, comeBack } = fragile(store)
    const events: string[] = []
    const { outbox, accepted } = outboxOver(shaky, undefined, {
      maxInHand: 2,
      log: ({ event }) => void events.push(event),
    })
    const { enqueue, rows } = fresh(store)
    const messages = await enqueue(outbox, [mail('a'), mail('b'), mail('c')])
    leave()
    expect(await outbox.dispatch(messages)).toEqual({ outcome: 'queued' })
    expect(accepted).toHaveLength(2)
    expect(events.filter((event) => event === 'outbox.full')).toHaveLength(1)
    comeBack()
    await eventually(async () =>
      expect((await rows()).filter(({ state }) => state === 'sent')).toHaveLength(2),
    )
    advance(15)
    await outbox.poll()
    advance(6)
    await outbox.poll()
    expect(accepted.map(({ to }) => to[0]).sort()).toEqual(['a', 'b', 'c'])
    await outbox.close()
  })

  test('a process whose lease ran out cannot undo what its successor did', async () => {
    stopClock()
    let fail = () => {}
    const slow = outboxOver(
      store,
      () => new Promise((_resolve, reject) => (fail = () => reject(new DeliveryError('no', 'contact')))),
    )
    const { outbox } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const answered = slow.outbox.dispatch(await enqueue(slow.outbox))
    await eventually(() => expect(slow.attempts).toHaveLength(1))
    advance(15)
    await outbox.poll()
    expect(await rows()).toMatchObject([{ state: 'sent' }])
    fail()
    await answered
    expect(await rows()).toMatchObject([{ state: 'sent', fault: null }])
    await Promise.all([slow.outbox.close(), outbox.close()])
  })

  test('a message that cannot be decrypted is refused, and does not hold up others', async () => {
    stopClock()
    const { outbox, accepted } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const [broken] = await enqueue(outbox, [mail('a'), mail('b')])
    await store.query("UPDATE outbox SET sealed = '1.other.AAAA' WHERE id = $1", [broken?.id ?? ''])
    advance(15)
    await outbox.poll()
    expect(accepted.map((message) => message.to)).toEqual(['b@example.com'])
    expect((await rows()).map((row) => row.state).sort()).toEqual(['refused', 'sent'])
    await outbox.close()
  })

  test('reports the worse result of two messages', () =>
    everyCase(
      [
        [['take', 'take'], 'sent'],
        [['take', 'outage'], 'queued'],
        [['outage', 'contact'], 'failed'],
        [['take', 'contact'], 'failed'],
        [['contact', 'carrier'], 'failed'],
      ] as const,
      async ([ends, outcome]) => {
        const { outbox } = outboxOver(store, async ({ to }) => {
          const end = ends[to.startsWith('a') ? 0 : 1]
          if (end !== 'take') throw new DeliveryError('no', end)
        })
        const { enqueue } = fresh(store)
        expect(await outbox.dispatch(await enqueue(outbox, [mail('a'), mail('b')]))).toMatchObject({
          outcome,
        })
        await outbox.close()
      },
    ))

  test('stores contacts and texts sealed, and deletes them after the delivery', async () => {
    const { outbox } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const messages = await enqueue(outbox)
    const held = JSON.stringify(await rows())
    expect(held).not.toMatch(/zoe@|example|012345|your code/i)
    expect(held).toContain('z•••@e•••')
    await outbox.dispatch(messages)
    expect((await rows()).map((row) => row.sealed)).toEqual([null])
    await outbox.close()
  })
})

describe('several processes on one PostgreSQL', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  test('deliver 600 emails once each to a mail server that defers one in twenty', async () => {
    const server = await startPostgres()
    const mails = await mailServer()
    const open = () => openStore({ databaseUrl: server.url, dataDir: '', keyId: keys.id })
    const first = await open()
    const stores = [first, await open(), await open()]
    const refused = new Set<string>()
    mails.answerWith((recipient, at) => {
      const number = Number(recipient.slice(1, 4))
      // Half of them after RCPT TO, half of them after DATA.
      const when = number % 40 === 0 ? 'to' : 'data'
      if (number % 20 > 0 || at !== when || refused.has(recipient)) return undefined
      refused.add(recipient)
      return { at, code: 451 }
    })
    const address = {
      host: '127.0.0.1',
      port: mails.port,
      secure: false,
      from: 'no-reply@vault.example',
    } as const
    const smtp = stores.map(() => smtpCarrier({ ...address, tls: 'optional' }))
    const workers = stores.map((store, index) =>
      outboxOver(store, async (message, signal) => void (await smtp[index]?.deliver(message, signal))),
    )
    const writer = workers[0]?.outbox
    if (!writer) throw new Error('no worker')
    stopClock()
    const composed = Array.from({ length: 600 }, (_, i) => mail(`p${String(i).padStart(3, '0')}`))
    const { enqueue } = fresh(first)
    const messages = await enqueue(writer, composed)
    advance(15)
    const work = async () => {
      await Promise.all(workers.map(({ outbox }) => outbox.poll()))
      // On a slow machine their own polls may have begun meanwhile, and lease some messages for 15 s.
      const held = () =>
        first.query("SELECT 1 FROM outbox WHERE state = 'queued' AND due_at > $1", [Date.now() + 10_000])
      await eventually(async () => expect(await held()).toEqual([]))
    }
    await work()
    expect([mails.arrived.length, refused.size]).toEqual([570, 30])
    advance(3)
    await work()
    vi.useRealTimers()
    const arrived = mails.arrived.map(
      ({ content }) => /^Message-ID: <([\w-]{22})\.[^@]+@/m.exec(content)?.[1],
    )
    expect(arrived.sort()).toEqual(messages.map(({ id }) => id).sort())
    // How they share the work depends on the machine.
    expect(workers.filter(({ accepted }) => accepted.length > 0).length).toBeGreaterThan(1)
    const states = await first.query('SELECT state, count(*)::integer AS n FROM outbox GROUP BY state')
    expect(states).toEqual([{ state: 'sent', n: 600 }])
    await Promise.all(workers.map(({ outbox }) => outbox.close()))
    await Promise.all([...smtp, ...stores].map((one) => one.close?.()))
    await mails.close()
    await server.stop()
  })
})
