import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { signal } from '../../../test/kit/signal.js'
import { timesPassed } from '../../../test/kit/times-passed.js'
import { storedInbox } from '../../src/carriers/inbox.js'
import { type Carrier, CHANNELS, DeliveryError, type Letter } from '../../src/delivery/message.js'
import { storedOutbox } from '../../src/delivery/outbox.js'
import { smtpCarrier } from '../../src/carriers/smtp.js'
import { rehearsalCarrier } from '../../src/test-mode/simulated-carrier.js'
import { keysFrom } from '../../src/secrets/keys.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { codeMessage } from '../../src/message-texts/compose.js'
import { advance, eventually, SECRET, stopClock } from '../kit.js'
import { postgresMissing, startPostgres } from '../postgres.js'
import { VAULT } from './letters.js'
import { mailServer } from './mail-server.js'

const keys = keysFrom(SECRET)
const told = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const

/** A message to somebody's mailbox. */
function mail(person = 'zoe') {
  return codeMessage(VAULT, { channel: 'email', to: `${person}@example.com`, locale: 'en' }, told)
}

/** An outbox with a carrier that does as `deliver` says, and keeps what it took. */
function outboxOver(
  store: Store,
  deliver: (letter: Letter, signal: AbortSignal) => Promise<void> = async () => {},
  times: { readonly answerWithinMs?: number; readonly tryMs?: number } = {},
) {
  const taken: Letter[] = []
  const tried: Letter[] = []
  const carrier: Carrier = {
    name: 'test',
    async deliver(letter, signal) {
      tried.push(letter)
      await deliver(letter, signal)
      taken.push(letter)
      return { id: `taken-${taken.length}` }
    },
    async close() {},
  }
  const carriers = Object.fromEntries(CHANNELS.map((channel) => [channel, carrier]))
  const rehearsal = rehearsalCarrier(storedInbox(store, keys))
  return { taken, tried, outbox: storedOutbox({ store, keys, carriers, rehearsal, log: () => {}, ...times }) }
}

const silence = (_letter: Letter, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  )

let applications = 0

/** What the outbox holds of an application nobody else uses. */
function fresh(store: Store) {
  const application = `application-${++applications}`
  const lifeMs = 300_000
  return {
    enqueue: (outbox: ReturnType<typeof outboxOver>['outbox'], messages = [mail()], life = lifeMs) =>
      store.transaction((tx) =>
        outbox.enqueue(tx, application, messages, { now: Date.now(), expiresAt: Date.now() + life }),
      ),
    rows: () =>
      store.query<Record<string, unknown>>('SELECT * FROM outbox WHERE application = $1 ORDER BY id', [
        application,
      ]),
  }
}

describe('the outbox', () => {
  let store: Store
  beforeAll(async () => {
    store = await openStore({ dataDir: 'memory://', keyId: keys.id })
  })
  afterAll(() => store.close())
  // Outboxes work on whatever is due, whoever wrote it.
  beforeEach(() => store.query('DELETE FROM outbox'))
  afterEach(() => vi.useRealTimers())

  test('answers queued when a carrier says nothing, and lets it finish', async () => {
    const held = signal()
    const { outbox, taken } = outboxOver(store, () => held.given, { answerWithinMs: 50 })
    const { enqueue, rows } = fresh(store)
    const letters = await enqueue(outbox)
    expect(await outbox.dispatch(letters)).toBe('queued')
    expect(taken).toEqual([])
    held.give()
    await outbox.close()
    expect(taken).toHaveLength(1)
    expect(await rows()).toMatchObject([
      { state: 'sent', carrier: 'test', carrier_id: 'taken-1', sealed: null },
    ])
  })

  test('waits 3 seconds for a carrier, and no longer', async () => {
    const { outbox } = outboxOver(store, silence, { tryMs: 3_300 })
    const { enqueue } = fresh(store)
    const letters = await enqueue(outbox)
    const rung = timesPassed(2_950, 3_250)
    expect(await outbox.dispatch(letters)).toBe('queued')
    expect(rung).toEqual([2_950])
    await outbox.close()
  })

  test('gives a carrier up when its time is over, and tries again', async () => {
    stopClock()
    const { outbox } = outboxOver(store, silence, { tryMs: 30 })
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox))).toBe('queued')
    expect(await rows()).toMatchObject([{ state: 'queued', attempts: 1, fault: 'outage', carrier: 'test' }])
    await outbox.close()
  })

  test('tries again after about 2, 6, 15 and 40 seconds, then no more', async () => {
    stopClock()
    const { outbox, tried } = outboxOver(store, async () => {
      throw new DeliveryError('down', 'outage')
    })
    const { enqueue, rows } = fresh(store)
    await outbox.dispatch(await enqueue(outbox))
    for (const [index, seconds] of [2, 6, 15, 40].entries()) {
      expect(tried).toHaveLength(index + 1)
      const [row] = await rows()
      const wait = (Number(row?.due_at) - Date.now()) / 1000
      expect(wait).toBeGreaterThanOrEqual(seconds * 0.8)
      expect(wait).toBeLessThanOrEqual(seconds * 1.2)
      advance(wait - 0.001)
      await outbox.work()
      expect(tried).toHaveLength(index + 1)
      advance(0.001)
      await outbox.work()
    }
    expect(tried).toHaveLength(5)
    expect(await rows()).toMatchObject([
      { state: 'expired', attempts: 5, sealed: null, fault: 'outage', settled_at: Date.now() },
    ])
    await outbox.close()
  })

  test('looks again when the next letter is due, however soon after the one before', async () => {
    const { outbox, taken } = outboxOver(store)
    const { enqueue } = fresh(store)
    for (const [i, dueInMs] of [200, 400, 700].entries()) {
      const [letter] = await enqueue(outbox, [mail(`p${i}`)])
      await store.query('UPDATE outbox SET due_at = $2 WHERE id = $1', [
        letter?.id ?? '',
        Date.now() + dueInMs,
      ])
    }
    const rung = timesPassed(4_500)
    await outbox.work()
    await eventually(() => expect(taken.map(({ to }) => to[1])).toEqual(['0', '1', '2']))
    expect(rung).toEqual([])
    await outbox.close()
  })

  test('looks again at once for a letter that became due while it looked', async () => {
    stopClock()
    const slow = {
      ...store,
      query: (async (text, params) => {
        const found = await store.query(text, params)
        if (text.includes('SKIP LOCKED')) advance(1)
        return found
      }) as Store['query'],
    }
    const { outbox, taken } = outboxOver(slow)
    const [letter] = await fresh(store).enqueue(outbox)
    await store.query('UPDATE outbox SET due_at = $2 WHERE id = $1', [letter?.id ?? '', Date.now() + 500])
    const rung = timesPassed(4_500)
    await outbox.work()
    await eventually(() => expect(taken).toHaveLength(1))
    expect(rung).toEqual([])
    await outbox.close()
  })

  test('tries nothing past the life of the code, to the millisecond', async () => {
    stopClock()
    let isDown = true
    const { outbox, tried } = outboxOver(store, async () => {
      if (isDown) throw new DeliveryError('down', 'outage')
    })
    const dying = fresh(store)
    // The next try would come 1.6 s from now at the earliest.
    expect(await outbox.dispatch(await dying.enqueue(outbox, [mail()], 1_600))).toBe('failed')
    expect(await dying.rows()).toMatchObject([{ state: 'expired', attempts: 1 }])
    const { enqueue, rows } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox, [mail()], 3_000))).toBe('queued')
    isDown = false
    advance(3)
    await outbox.work()
    expect(tried).toHaveLength(2)
    expect(await rows()).toMatchObject([{ state: 'expired', sealed: null }])
    await outbox.close()
  })

  test('a letter whose taker died is another one’s after 15 seconds, not before', async () => {
    stopClock()
    const dead = outboxOver(store)
    const { outbox, taken } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    // Written and taken, then its process was gone.
    await enqueue(dead.outbox)
    advance(14.999)
    await outbox.work()
    expect(taken).toEqual([])
    advance(0.001)
    await outbox.work()
    expect(taken).toHaveLength(1)
    expect(await rows()).toMatchObject([{ state: 'sent', attempts: 1 }])
    await Promise.all([dead.outbox.close(), outbox.close()])
  })

  test('a taker that was thought dead cannot undo what its successor did', async () => {
    stopClock()
    let fail = () => {}
    const slow = outboxOver(
      store,
      () => new Promise((_resolve, reject) => (fail = () => reject(new DeliveryError('no', 'contact')))),
    )
    const { outbox } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const answered = slow.outbox.dispatch(await enqueue(slow.outbox))
    await eventually(() => expect(slow.tried).toHaveLength(1))
    advance(15)
    await outbox.work()
    expect(await rows()).toMatchObject([{ state: 'sent' }])
    fail()
    await answered
    expect(await rows()).toMatchObject([{ state: 'sent', fault: null }])
    await Promise.all([slow.outbox.close(), outbox.close()])
  })

  test('a letter that cannot be read is refused, and holds up no other', async () => {
    stopClock()
    const { outbox, taken } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const [broken] = await enqueue(outbox, [mail('a'), mail('b')])
    await store.query("UPDATE outbox SET sealed = '1.other.AAAA' WHERE id = $1", [broken?.id ?? ''])
    advance(15)
    await outbox.work()
    expect(taken.map((letter) => letter.to)).toEqual(['b@example.com'])
    expect((await rows()).map((row) => row.state).sort()).toEqual(['refused', 'sent'])
    await outbox.close()
  })

  test.each([
    [['take', 'take'], 'sent'],
    [['take', 'outage'], 'queued'],
    [['outage', 'contact'], 'failed'],
    [['take', 'contact'], 'failed'],
    [['contact', 'carrier'], 'failed'],
  ] as const)('of two messages that end with %j it says %s', async (ends, outcome) => {
    const { outbox } = outboxOver(store, async ({ to }) => {
      const end = ends[to.startsWith('a') ? 0 : 1]
      if (end !== 'take') throw new DeliveryError('no', end)
    })
    const { enqueue } = fresh(store)
    expect(await outbox.dispatch(await enqueue(outbox, [mail('a'), mail('b')]))).toBe(outcome)
    await outbox.close()
  })

  test('keeps contacts and texts sealed while it must, and not at all afterwards', async () => {
    const { outbox } = outboxOver(store)
    const { enqueue, rows } = fresh(store)
    const letters = await enqueue(outbox)
    const held = JSON.stringify(await rows())
    expect(held).not.toMatch(/zoe@|example|012345|your code/i)
    expect(held).toContain('z•••@e•••')
    await outbox.dispatch(letters)
    expect((await rows()).map((row) => row.sealed)).toEqual([null])
    await outbox.close()
  })
})

describe('several workers on one PostgreSQL', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  test('deliver 600 mails once each to a mail server that refuses one in twenty at first', async () => {
    const server = await startPostgres()
    const mails = await mailServer()
    const open = () => openStore({ databaseUrl: server.url, dataDir: '', keyId: keys.id })
    const first = await open()
    const stores = [first, await open(), await open()]
    const refused = new Set<string>()
    mails.answerWith((recipient, at) => {
      const person = Number(recipient.slice(1, 4))
      // Half of them when the recipient is named, half of them when all is said.
      const when = person % 40 === 0 ? 'to' : 'data'
      if (person % 20 > 0 || at !== when || refused.has(recipient)) return undefined
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
      outboxOver(store, async (letter, signal) => void (await smtp[index]?.deliver(letter, signal))),
    )
    const writer = workers[0]?.outbox
    if (!writer) throw new Error('no worker')
    stopClock()
    const messages = Array.from({ length: 600 }, (_, i) => mail(`p${String(i).padStart(3, '0')}`))
    const { enqueue } = fresh(first)
    const letters = await enqueue(writer, messages)
    advance(15)
    const work = async () => {
      await Promise.all(workers.map(({ outbox }) => outbox.work()))
      // On a slow machine their own look at what is due has begun meanwhile, and holds some for 15 s.
      const held = () =>
        first.query("SELECT 1 FROM outbox WHERE state = 'queued' AND due_at > $1", [Date.now() + 10_000])
      await vi.waitFor(async () => expect(await held()).toEqual([]), { timeout: 10_000 })
    }
    await work()
    expect([mails.arrived.length, refused.size]).toEqual([570, 30])
    advance(3)
    await work()
    vi.useRealTimers()
    const arrived = mails.arrived.map(({ content }) => /^Message-ID: <([^@]+)@/m.exec(content)?.[1])
    expect(arrived.sort()).toEqual(letters.map(({ id }) => id).sort())
    expect(workers.every(({ taken }) => taken.length > 50)).toBe(true)
    const states = await first.query('SELECT state, count(*)::integer AS n FROM outbox GROUP BY state')
    expect(states).toEqual([{ state: 'sent', n: 600 }])
    await Promise.all(workers.map(({ outbox }) => outbox.close()))
    await Promise.all([...smtp, ...stores].map((one) => one.close()))
    await mails.close()
    await server.stop()
  })
})
