import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { simulatedCarrier } from '../../src/flows/test-mode/simulated-carrier.js'
import { activityCounter } from '../../src/messages/activity/count-activity.js'
import { buildCarriers } from '../../src/messages/carriers/build-carriers.js'
import { parseDelivery } from '../../src/messages/carriers/delivery-option.js'
import { storedInbox } from '../../src/messages/carriers/inbox.js'
import { storedOutbox } from '../../src/messages/delivery/outbox.js'
import type { LogEvent } from '../../src/telemetry/log/logger.js'
import { apiOver, postForm } from '../api-kit.js'
import {
  advance,
  type Bench,
  DeliveryError,
  eventually,
  freshEmail,
  freshPhone,
  freshTenant,
  listen,
  openBench,
  recordingCarrier,
  stopClock,
  type Tenant,
} from '../kit.js'

let bench: Bench
let tenant: Tenant
let server: Awaited<ReturnType<typeof listen>>
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  stopClock()
  tenant = freshTenant(bench)
  server = await listen(apiOver(bench.context, tenant.application))
})
afterEach(async () => {
  vi.useRealTimers()
  await server.close()
})

const post = (path: string, form: Record<string, string>, request: string) =>
  postForm(server.url + path, form, { 'x-request-id': request })
const deliveries = (events: readonly LogEvent[] = bench.events) =>
  events.filter(({ event, application }) => {
    return event.startsWith('delivery.') && application === tenant.application.id
  })

test('logs a delivery with its message id and request id, also when another process retries it', async () => {
  bench.failNext(new DeliveryError('down', 'outage'))
  await post('/v1/mfa', { User: freshEmail().email, Type: 'EMAIL' }, 'trace-1')
  const [row] = await bench.store.query('SELECT id FROM outbox WHERE application = $1', [
    tenant.application.id,
  ])
  const about = { channel: 'email', purpose: 'sign-in', message: row?.id, request: 'trace-1' }
  expect(deliveries()).toEqual([expect.objectContaining({ event: 'delivery.postponed', ...about })])

  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const { store, keys } = bench.context
  const simulated = simulatedCarrier(storedInbox(store, keys))
  const carriers = { email: recordingCarrier().carrier }
  const other = storedOutbox({
    store,
    keys,
    activity: activityCounter(store, () => {}),
    carriers,
    simulated,
    deliveryOf: async () => ({ senders: {}, carriers: {}, hasComplained: async () => false }),
    log,
    onUndelivered: async () => {},
  })
  advance(3)
  await other.poll()
  await other.close()
  expect(deliveries(events)).toEqual([expect.objectContaining({ event: 'delivery.sent', ...about })])
})

test('logs backup codes and the notice of a lock in the same way', async () => {
  const User = freshPhone().phone
  await post('/v1/mfa/backup', { User, Type: 'SMS' }, 'trace-2')
  const Code = 'AAAA-BBBB-CCCC-DDDD'
  for (let i = 1; i <= 10; i++) await post('/v1/mfa/verify', { User, Type: 'PHONE', Code }, `attempt-${i}`)
  await eventually(() =>
    expect(deliveries().map(({ purpose, request }) => [purpose, request])).toEqual([
      ['backup', 'trace-2'],
      ['notice', 'attempt-10'],
    ]),
  )
})

test('logs a carrier that did not accept a message, with the message id', async () => {
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const { store, keys } = bench.context
  const { routes } = parseDelivery('sms=http://127.0.0.1:1/gone|inbox')
  const carriers = buildCarriers(routes, { inbox: storedInbox(store, keys), webhookSecret: 'x', log })
  const simulated = simulatedCarrier(storedInbox(store, keys))
  const onUndelivered = async () => {}
  const outbox = storedOutbox({
    store,
    keys,
    activity: activityCounter(store, () => {}),
    carriers: carriers.byChannel,
    simulated,
    deliveryOf: async () => ({ senders: {}, carriers: {}, hasComplained: async () => false }),
    log,
    onUndelivered,
  })
  await server.close()
  server = await listen(apiOver({ ...bench.context, outbox, log }, tenant.application))
  await post('/v1/mfa', { User: freshPhone().phone, Type: 'SMS' }, 'trace-3')
  const lines = deliveries(events).map(({ event, carrier, request }) => [event, carrier, request])
  expect(lines).toEqual([
    ['delivery.missed', 'webhook', 'trace-3'],
    ['delivery.sent', 'inbox', 'trace-3'],
  ])
  await outbox.close()
  await carriers.close()
})
