import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { recordReport } from '../src/messages/delivery/report-table.js'
import type { MessageFilter } from '../src/operator/messages.js'
import { operator } from '../src/operator/operator.js'
import { describeOnBothDatabases } from './both-databases.js'
import { advance, DeliveryError, freshEmail, freshTenant, rejection, stopClock, type Tenant } from './kit.js'

beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

describeOnBothDatabases((bench) => {
  const desk = () => operator(bench().store, 'ann', { keys: () => bench().context.keys })
  const storedTenant = async () => {
    const tenant = freshTenant(bench())
    await desk().createApplication(tenant.application.id)
    return tenant
  }
  const search = ({ application }: Tenant, filter: Partial<MessageFilter> = {}) =>
    desk().searchMessages({ application: application.id, mode: 'live', limit: 100, ...filter })
  const send = (tenant: Tenant, phone: string, account?: string) =>
    tenant.mfa.send({ method: 'sms', contact: { kind: 'phone', phone }, ...(account && { account }) })

  test('finds messages page by page, newest first, also those of one millisecond, each once', async () => {
    const tenant = await storedTenant()
    for (let user = 0; user < 7; user++) {
      await send(tenant, `+44740012300${user}`)
      if (user % 3 === 0) advance(1)
    }
    const all = (await search(tenant)).messages.map(({ id }) => id)
    expect(new Set(all).size).toBe(7)
    const paged: string[] = []
    for (let after: string | undefined, pages = 0; pages < 4; pages++) {
      const page = await search(tenant, { limit: 2, after })
      paged.push(...page.messages.map(({ id }) => id))
      after = page.next
      if (!after) break
    }
    expect(paged).toEqual(all)
    expect((await rejection(search(tenant, { after: 'x' }))).message).toContain('This page does not exist')
  })

  test('finds the messages to exactly one contact or account, whatever the application names its accounts', async () => {
    const tenant = await storedTenant()
    await send(tenant, '+447400123001')
    await send(tenant, '+447400123002', 'user 7')
    await send(tenant, '+447400123003', 'user 7')
    const { email } = freshEmail()
    await tenant.mfa.send({ method: 'email', contact: { kind: 'email', email }, account: 'user 8' })
    const channels = async (filter: Partial<MessageFilter>) =>
      (await search(tenant, filter)).messages.map(({ channel, to }) => `${channel} ${to.slice(-2)}`)
    expect(await channels({ contact: '+447400123001' })).toEqual(['sms 01'])
    expect(await channels({ contact: '+447400123002' })).toEqual(['sms 02'])
    expect(await channels({ contact: email.toUpperCase() })).toHaveLength(1)
    expect(await channels({ contact: '+44740012300' })).toEqual([])
    expect((await channels({ account: 'user 7' })).toSorted()).toEqual(['sms 02', 'sms 03'])
    expect(await channels({ account: 'user 7', contact: '+447400123003' })).toEqual(['sms 03'])
    expect((await rejection(search(tenant, { contact: 'not one' }))).message).toContain('Write one mailbox')
    const [row] = await bench().store.query<{ recipient: string | null }>(
      'SELECT recipient FROM outbox WHERE application = $1 AND account = $2',
      [tenant.application.id, 'account:user 8'],
    )
    expect(row?.recipient).toMatch(/^[\w-]{22}$/)
  })

  test('filters by state, channel, carrier and time', async () => {
    const tenant = await storedTenant()
    await send(tenant, '+447400123001')
    advance(60)
    const later = Date.now()
    bench().failNext(
      new DeliveryError('The gateway answered 400, error 21211.', 'contact', { contact: 'unknown' }),
    )
    await tenant.mfa.send({ method: 'email', contact: freshEmail() })
    const states = async (filter: Partial<MessageFilter>) =>
      (await search(tenant, filter)).messages.map(({ channel, state }) => `${channel} ${state}`)
    expect(await states({})).toEqual(['email refused', 'sms sent'])
    expect(await states({ state: 'refused' })).toEqual(['email refused'])
    expect(await states({ state: 'sent' })).toEqual(['sms sent'])
    expect(await states({ state: 'queued' })).toEqual([])
    expect(await states({ channel: 'sms' })).toEqual(['sms sent'])
    expect(await states({ channel: 'sms', state: 'refused' })).toEqual([])
    expect(await states({ carrier: 'recording' })).toHaveLength(2)
    expect(await states({ carrier: 'other' })).toEqual([])
    expect(await states({ from: later })).toEqual(['email refused'])
    expect(await states({ until: later })).toEqual(['sms sent'])
    const [refused] = (await search(tenant, { state: 'refused' })).messages
    expect(refused).toMatchObject({ fault: 'contact', detail: 'The gateway answered 400, error 21211.' })
    expect((await search(tenant, { channel: 'sms', limit: 1 })).messages).toHaveLength(1)
  })

  test('looks at 10,000 messages for a page of those that no index has, and goes on with the next page', async () => {
    const tenant = await storedTenant()
    const now = Date.now()
    await bench().store.query(
      `INSERT INTO outbox (application, account, id, slot, channel, masked, state, expires_at, created_at, updated_at)
       SELECT $1, 'account:many', 'message-' || n, 0, CASE WHEN n = 10001 THEN 'call' ELSE 'sms' END, '•••', 'sent', 0,
         $2::bigint - n, $2::bigint FROM generate_series(1, 10001) AS n`,
      [tenant.application.id, now],
    )
    const first = await search(tenant, { channel: 'call' })
    expect(first.messages).toEqual([])
    const second = await search(tenant, { channel: 'call', after: first.next })
    expect(second.messages.map(({ id }) => id)).toEqual(['message-10001'])
    expect(second.next).toBeUndefined()
    const sms = await search(tenant, { channel: 'sms', limit: 2 })
    expect(sms).toMatchObject({ messages: [{ id: 'message-1' }, { id: 'message-2' }] })
    expect(await search(tenant, { channel: 'sms', limit: 1, after: sms.next })).toMatchObject({
      messages: [{ id: 'message-3' }],
    })
  })

  test('shows a message with what the carrier reports, and only to its own application and mode', async () => {
    const tenant = await storedTenant()
    await send(tenant, '+447400123001')
    const { id = '' } = tenant.sent()[0] ?? {}
    const application = tenant.application.id
    const detail = 'The gateway reports undelivered, error 30003.'
    await recordReport(bench().store, { application, id, outcome: 'failed', detail }, Date.now())
    const shown = await desk().showMessage({ application, mode: 'live', id })
    expect(shown).toMatchObject({ state: 'failed', report: 'failed', detail, country: 'GB' })
    expect(shown.carrierId).toMatch(/^taken-/)
    expect(JSON.stringify(shown)).not.toContain('7400123001')
    const other = await storedTenant()
    for (const reference of [
      { application, mode: 'test' as const, id },
      { application: other.application.id, mode: 'live' as const, id },
      { application, mode: 'live' as const, id: 'unknown' },
    ]) {
      expect((await rejection(desk().showMessage(reference))).message).toContain('no message with this id')
    }
  })

  test('lists a message as queued while it is on its way for the first time, and not after that', async () => {
    const tenant = await storedTenant()
    let arrive = () => {}
    bench().delayNext(new Promise((resolve) => (arrive = resolve)))
    const contact = freshEmail()
    const sending = tenant.mfa.send({ method: 'email', contact, account: 'user 9' })
    const queued = async (filter: Partial<MessageFilter> = {}) =>
      (await search(tenant, { state: 'queued', ...filter })).messages.map(({ to }) => to)
    await expect.poll(() => queued()).toHaveLength(1)
    expect(await queued({ channel: 'email' })).toHaveLength(1)
    expect(await queued({ channel: 'sms' })).toEqual([])
    expect(await queued({ account: 'user 9' })).toHaveLength(1)
    expect(await queued({ account: 'user 8' })).toEqual([])
    arrive()
    await sending
    expect(await queued()).toEqual([])
  })

  test('delivers a waiting message at once on request, and never one that a process may be delivering', async () => {
    const tenant = await storedTenant()
    const application = tenant.application.id
    bench().failNext(new DeliveryError('The gateway answered 503.', 'outage', { retryAfterMs: 60_000 }))
    const contact = freshEmail()
    expect(await tenant.mfa.send({ method: 'email', contact })).toMatchObject({ outcome: 'queued' })
    const [waiting] = (await search(tenant, { state: 'queued' })).messages
    const reference = { application, mode: 'live', id: waiting?.id ?? '' } as const
    expect(waiting).toMatchObject({ attempts: 1, fault: 'outage', detail: 'The gateway answered 503.' })
    expect((waiting?.dueAt ?? 0) - Date.now()).toBeGreaterThan(15_000)
    await desk().retryMessage(reference)
    expect(await desk().showMessage(reference)).toMatchObject({ dueAt: Date.now() })
    // Due by now: a process may have it.
    expect((await rejection(desk().retryMessage(reference))).message).toContain('within seconds')
    await bench().context.outbox.poll()
    expect(await desk().showMessage(reference)).toMatchObject({ state: 'sent', attempts: 2, detail: null })
    expect(tenant.sent()).toHaveLength(1)
    expect(await desk().listAudit({ application, limit: 1 })).toMatchObject([
      { actor: 'ann', action: 'message.retried', detail: waiting?.id },
    ])
    const test = { ...reference, mode: 'test' as const }
    expect((await rejection(desk().retryMessage(test))).message).toContain('does not wait')
  })
})
