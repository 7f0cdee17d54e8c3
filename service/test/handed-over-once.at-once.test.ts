import { setTimeout as wait } from 'node:timers/promises'
import { createService } from '@countersign/service'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { type MailServer, mailServer } from './delivery/mail-server.js'
import { API_KEY, advance, eventually, freshEmail, listen, SECRET, stopClock } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { stallingProxy } from './stalling-proxy.js'

const USERS = 10

describe.skipIf(postgresMissing)('a message that the mail server accepts while the database is away', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  const ends: (() => unknown)[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterEach(async () => {
    vi.useRealTimers()
    for (const end of ends.splice(0).reverse()) await end()
  })
  afterAll(() => postgres.stop())

  async function serviceBehind(mails: MailServer) {
    const proxy = await stallingProxy(Number(new URL(postgres.url).port))
    ends.push(proxy.close)
    const events: LogEvent[] = []
    const service = await createService({
      databaseUrl: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`,
      secret: SECRET,
      apiKey: API_KEY,
      delivery: `smtp://127.0.0.1:${mails.port}?from=no-reply@vault.example&tls=optional&connections=20`,
      logger: (event) => void events.push(event),
    })
    const server = await listen(service.api)
    let closed: Promise<void> | undefined
    const close = () => (closed ??= service.close())
    ends.push(close, server.close)
    const send = async () => {
      const response = await fetch(`${server.url}/v1/mfa`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' }),
      })
      return ((await response.json()) as { status?: string }).status
    }
    return { proxy, close, send, events }
  }

  /** Codes to ten users, which the mail server has received but not accepted yet. */
  async function handingOver() {
    const mails = await mailServer()
    ends.push(mails.close)
    const first = await serviceBehind(mails)
    const second = await serviceBehind(mails)
    await sql('DELETE FROM outbox')
    stopClock()
    const accept = mails.holdAcceptance()
    const answers = Promise.all(Array.from({ length: USERS }, first.send))
    await eventually(() => expect(mails.arrived).toHaveLength(USERS))
    return { mails, first, second, accept, answers }
  }

  async function sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: postgres.url, options: '-c search_path=mfa' })
    await client.connect()
    return (await client.query<Row>(text).finally(() => client.end())).rows
  }

  const states = async () => {
    const rows = await sql<{ state: string; n: number }>(
      'SELECT state, count(*)::integer AS n FROM outbox GROUP BY state',
    )
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
  }
  const settled = () => eventually(async () => expect(await states()).not.toHaveProperty('queued'))

  test('is sent once to each of ten users, although every lease ran out meanwhile', async () => {
    const { mails, first, second, accept, answers } = await handingOver()
    first.proxy.cut()
    second.proxy.cut()
    accept()
    const outcomes = await answers
    advance(16)
    // Both processes notice at their next poll.
    const noticed = ({ events }: typeof first) => events.some(({ event }) => event === 'outbox.unavailable')
    await eventually(() => expect([first, second].map(noticed)).toEqual([true, true]))
    first.proxy.mend()
    second.proxy.mend()
    await settled()
    const times = mails.arrived.map(({ to }) => mails.arrived.filter((other) => other.to[0] === to[0]).length)
    expect(times).toEqual(Array(USERS).fill(1))
    expect(await states()).toEqual({ sent: USERS })
    expect(outcomes).toEqual(Array(USERS).fill('sent'))
  })

  test('is recorded when the process shuts down, if the database returns in time', async () => {
    const { mails, first, accept, answers } = await handingOver()
    first.proxy.cut()
    accept()
    await answers
    const closed = first.close()
    await wait(1_000)
    first.proxy.mend()
    await closed
    expect(await states()).toEqual({ sent: USERS })
    expect(first.events.map(({ event }) => event)).not.toContain('outbox.unrecorded')
    expect(mails.arrived).toHaveLength(USERS)
  })

  test('is named in the log when the process has to end without recording it', async () => {
    const { mails, first, accept, answers } = await handingOver()
    first.proxy.cut()
    accept()
    await answers
    await first.close()
    const unrecorded = first.events.filter(({ event }) => event === 'outbox.unrecorded')
    expect(unrecorded).toHaveLength(USERS)
    for (const event of unrecorded) {
      expect(event).toMatchObject({
        level: 'error',
        application: 'default',
        channel: 'email',
        carrier: 'smtp',
      })
      expect(event).toHaveProperty('message', expect.stringMatching(/^[\w-]{22}$/))
      expect(JSON.stringify(event)).not.toContain('@example.com')
    }
    expect(mails.arrived).toHaveLength(USERS)
  })
})
