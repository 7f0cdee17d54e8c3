import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createService, jsonLogger, type ServiceOptions } from '@countersign/service'
import {
  context,
  createTraceState,
  INVALID_SPAN_CONTEXT,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { mfaClient } from 'countersign'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { webhookReceiver } from '../service/test/delivery/webhook-receiver.js'
import { eventually, listen, SECRET } from '../service/test/kit.js'
import { startListening } from '../service/test/processes.js'
import { freePort } from './kit/loopback.js'
import { temporaryFolder } from './kit/temporary-folder.js'

const API_KEY = 'key_for_traces_0123456789'
const RECEIVER_SECRET = 'shared with the receiver'
const EMAIL = { kind: 'email', email: 'ann@vault.example' } as const

const exporter = new InMemorySpanExporter()
beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
})
beforeEach(() => exporter.reset())
// Other tests of this process have no traces.
afterAll(() => {
  trace.disable()
  context.disable()
})

const tracer = () => trace.getTracer('an app')
const ended = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name)
function only(name: string): ReadableSpan {
  const [span, ...more] = ended(name)
  if (!span || more.length > 0)
    throw new Error(`${name}: ${exporter.getFinishedSpans().map((one) => one.name)}`)
  return span
}
const headerOf = (span: ReadableSpan, flags = '01') =>
  `00-${span.spanContext().traceId}-${span.spanContext().spanId}-${flags}`

/** A service with its log, whose messages go to a receiver. */
async function start(more: Partial<ServiceOptions> = {}) {
  const receiver = await webhookReceiver(RECEIVER_SECRET)
  let log = ''
  const service = await createService({
    dataDir: 'memory://',
    secret: SECRET,
    apiKey: API_KEY,
    delivery: `${receiver.url}/messages`,
    webhookSecret: RECEIVER_SECRET,
    logger: jsonLogger({ write: (line) => (log += line) }),
    ...more,
  })
  const server = await listen(service.api)
  const client = mfaClient({ baseUrl: server.url, apiKey: API_KEY })
  onTestFinished(async () => {
    await client.close()
    await server.close()
    await service.close()
    await receiver.close()
  })
  return {
    url: server.url,
    service,
    client,
    receiver,
    lines: (): Record<string, unknown>[] =>
      log
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  }
}

describe('a trace of the app', () => {
  test('goes through the client and the service to the carrier, and into the log', async () => {
    const { client, receiver, lines } = await start()
    await tracer().startActiveSpan('sign-in', async (span) => {
      const traceState = createTraceState('vendor=1')
      const withState = trace.wrapSpanContext({ ...span.spanContext(), traceState })
      const { outcome } = await context.with(trace.setSpan(context.active(), withState), () =>
        client.send({ method: 'email', contact: EMAIL }),
      )
      expect(outcome).toBe('sent')
      span.end()
    })
    await eventually(() => expect(lines().map(({ event }) => event)).toContain('http.request'))
    await eventually(() => expect(ended('POST /v1/mfa')).toHaveLength(2))
    const root = only('sign-in').spanContext()
    const [call, request] = [SpanKind.CLIENT, SpanKind.SERVER].map((kind) =>
      ended('POST /v1/mfa').find((span) => span.kind === kind),
    )
    const delivery = only('deliver email')
    expect([call, request, delivery].map((span) => span?.parentSpanContext?.spanId)).toEqual([
      root.spanId,
      call?.spanContext().spanId,
      request?.spanContext().spanId,
    ])
    for (const span of [call, request, delivery]) expect(span?.spanContext().traceId).toBe(root.traceId)
    expect(call?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
    })
    expect(request?.attributes).toMatchObject({ 'http.route': '/v1/mfa', 'http.response.status_code': 200 })
    expect(delivery.attributes).toMatchObject({
      'countersign.channel': 'email',
      'countersign.outcome': 'sent',
    })
    expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual([headerOf(delivery)])
    expect(request?.spanContext().traceState?.serialize()).toBe('vendor=1')
    const logged = lines().filter(({ request }) => request !== undefined)
    expect(logged.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['send.sent', 'delivery.sent', 'http.request']),
    )
    expect(new Set(logged.map(({ trace }) => trace))).toEqual(new Set([root.traceId]))
  })

  test('contains no contact, code, challenge or key', async () => {
    const { client, receiver } = await start()
    await tracer().startActiveSpan('sign-in', async (span) => {
      const sent = await client.send({ method: 'email', contact: EMAIL })
      const challenge = sent.outcome === 'sent' ? (sent.challenge ?? '') : ''
      const { code } = JSON.parse(receiver.requests[0]?.body ?? '{}') as { code: string }
      await client.deliveryOf?.({ challenge })
      const verify = { method: 'email', contact: EMAIL, kind: 'code', challenge } as const
      expect((await client.verify({ ...verify, code })).outcome).toBe('valid')
      span.end()
      await eventually(() => expect(ended('POST /v1/mfa/verify')).toHaveLength(2))
      const text = JSON.stringify(
        exporter
          .getFinishedSpans()
          .map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
      )
      // Who the service is, and the state of the delivery.
      expect(ended('GET')).toHaveLength(2)
      expect(challenge.length).toBeGreaterThan(10)
      for (const secret of [code, challenge, API_KEY, EMAIL.email]) expect(text).not.toContain(secret)
    })
  })

  test('ends in an error where the service fails, and not where a code is wrong', async () => {
    const { client, service } = await start()
    const verify = { method: 'email', contact: EMAIL, kind: 'code', code: '000000' } as const
    const root = tracer().startSpan('sign-in')
    const within = <T>(work: () => T) => context.with(trace.setSpan(context.active(), root), work)
    expect((await within(() => client.verify(verify))).outcome).toBe('invalid')
    await service.close()
    await expect(within(() => client.verify(verify))).rejects.toMatchObject({ name: 'ServiceError' })
    await eventually(() => expect(ended('POST /v1/mfa/verify')).toHaveLength(4))
    const failed = ended('POST /v1/mfa/verify').map(({ kind, status }) => [kind, status.code])
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
      expect(failed.filter(([one]) => one === kind)).toEqual([
        [kind, SpanStatusCode.UNSET],
        [kind, SpanStatusCode.ERROR],
      ])
    }
  })

  test('ends in an error with its code where the service cannot be reached', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`
    const client = mfaClient({ baseUrl, apiKey: API_KEY, dialect: 'published' })
    onTestFinished(() => client.close())
    const root = tracer().startSpan('sign-in')
    await expect(
      context.with(trace.setSpan(context.active(), root), () =>
        client.send({ method: 'email', contact: EMAIL }),
      ),
    ).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
    const [failed, ...others] = exporter.getFinishedSpans()
    expect(others).toEqual([])
    expect(failed).toMatchObject({
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'ERR_MFA_SERVICE_UNAVAILABLE' },
    })
  })

  test('has one span for a request where an instrumentation of undici traces all others', async () => {
    const { client } = await start()
    const instrumented = () => tracer().startSpan('by the instrumentation').end()
    subscribe('undici:request:create', instrumented)
    onTestFinished(() => void unsubscribe('undici:request:create', instrumented))
    const send = () => client.send({ method: 'email', contact: EMAIL })
    await send()
    const before = ended('by the instrumentation').length
    expect(before).toBeGreaterThan(0)
    await tracer().startActiveSpan('sign-in', send)
    expect(ended('by the instrumentation')).toHaveLength(before)
  })

  test('is continued when the message is delivered later', async () => {
    const { client, receiver, lines } = await start()
    receiver.state.status = 503
    await tracer().startActiveSpan('sign-in', async (span) => {
      await client.send({ method: 'email', contact: EMAIL })
      span.end()
    })
    receiver.state.status = 200
    const { traceId } = only('sign-in').spanContext()
    await eventually(() => expect(receiver.requests).toHaveLength(1))
    await eventually(() => expect(ended('deliver email')).toHaveLength(2))
    expect(receiver.requests[0]?.headers.traceparent).toContain(traceId)
    const attempts = ended('deliver email')
    expect(new Set(attempts.map(({ parentSpanContext }) => parentSpanContext?.spanId)).size).toBe(1)
    const logged = lines().filter(({ event }) => String(event).startsWith('delivery.'))
    expect(logged.map(({ event, trace }) => [event, trace])).toEqual([
      ['delivery.postponed', traceId],
      ['delivery.sent', traceId],
    ])
  })

  test('that is not recorded is continued as such', async () => {
    const { client, receiver } = await start()
    const traceId = 'b'.repeat(32)
    const host = trace.wrapSpanContext({ traceId, spanId: 'c'.repeat(16), traceFlags: 0 })
    await context.with(trace.setSpan(context.active(), host), () =>
      client.send({ method: 'email', contact: EMAIL }),
    )
    const sampled = receiver.requests.map(({ headers }) => String(headers.traceparent).split('-'))
    expect(sampled).toEqual([['00', traceId, expect.any(String), '00']])
  })
})

describe('without an active trace of the host', () => {
  test('the client sends no header of a span that is not valid', async () => {
    const received: unknown[] = []
    const server = await listen((request, response) => {
      received.push(request.headers.traceparent)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"valid":true}')
    })
    const client = mfaClient({ baseUrl: server.url, apiKey: API_KEY, dialect: 'published' })
    const sdk = trace.getTracerProvider()
    // As in a host that has only the API.
    trace.disable()
    onTestFinished(async () => {
      trace.setGlobalTracerProvider(sdk)
      await client.close()
      await server.close()
    })
    const invalid = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    await context.with(trace.setSpan(context.active(), invalid), () =>
      client.send({ method: 'email', contact: EMAIL }).catch(() => {}),
    )
    expect(received).toEqual([undefined])
  })

  test('the client sends no header, and never the baggage of the host', async () => {
    const received: Record<string, unknown>[] = []
    const server = await listen((request, response) => {
      received.push(request.headers)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"valid":true}')
    })
    const client = mfaClient({ baseUrl: server.url, apiKey: API_KEY, dialect: 'published' })
    onTestFinished(async () => {
      await client.close()
      await server.close()
    })
    const verify = { method: 'email', contact: EMAIL, kind: 'code', code: '123456' } as const
    const baggage = propagation.createBaggage({ user: { value: 'ann' } })
    const carrying = propagation.setBaggage(context.active(), baggage)
    await context.with(carrying, () => client.verify(verify))
    await context.with(trace.setSpan(carrying, tracer().startSpan('sign-in')), () => client.verify(verify))
    const headers = received.map(({ traceparent, baggage }) => [traceparent, baggage])
    expect(headers).toEqual([
      [undefined, undefined],
      [expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), undefined],
    ])
  })

  test('the service begins a trace of its own, also for a header that is not valid', async () => {
    const { url } = await start()
    const id = 'a'.repeat(32)
    const invalid = [
      undefined,
      '',
      id,
      `00-${id}-${'b'.repeat(16)}`,
      `ff-${id}-${'b'.repeat(16)}-01`,
      `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
      `00-${id}-${'0'.repeat(16)}-01`,
      `00-${id.toUpperCase()}-${'b'.repeat(16)}-01`,
      `00-${id}-${'b'.repeat(16)}-01, 00-${id}-${'b'.repeat(16)}-01`,
    ]
    for (const traceparent of invalid) {
      await fetch(`${url}/problems`, { headers: traceparent === undefined ? {} : { traceparent } })
    }
    await fetch(`${url}/problems`, { headers: { traceparent: `01-${id}-${'b'.repeat(16)}-01-more` } })
    await eventually(() => expect(ended('GET /problems')).toHaveLength(invalid.length + 1))
    const parents = ended('GET /problems').map(({ parentSpanContext }) => parentSpanContext?.traceId)
    expect(parents.filter(Boolean)).toEqual([id])
  })

  test('probes have no trace', async () => {
    const { url } = await start()
    await fetch(`${url}/healthz`)
    await fetch(`${url}/problems`)
    await eventually(() => expect(ended('GET /problems')).toHaveLength(1))
    expect(exporter.getFinishedSpans()).toHaveLength(1)
  })
})

test('a host that traces its own server gets no second span for a request', async () => {
  const { service, lines } = await start()
  const server = await listen((request, response) =>
    tracer().startActiveSpan('the request of the host', (span) => {
      response.once('close', () => span.end())
      service.api(request, response)
    }),
  )
  await fetch(`${server.url}/problems`)
  await server.close()
  await eventually(() => expect(lines().map(({ event }) => event)).toContain('http.request'))
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['the request of the host'])
  const { traceId } = only('the request of the host').spanContext()
  expect(lines().find(({ event }) => event === 'http.request')).toMatchObject({ trace: traceId })
})

test('without the package of the API, a process serves as before, and its log names no trace', async () => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  // As if the package were not installed.
  writeFileSync(
    join(path, 'hide.mjs'),
    `import { register } from 'node:module'
     register('data:text/javascript,' + encodeURIComponent(\`export const resolve = (name, context, next) => {
       if (name.startsWith('@opentelemetry/')) throw Object.assign(new Error('hidden'), { code: 'ERR_MODULE_NOT_FOUND' })
       return next(name, context)
     }\`))`,
  )
  mkdirSync(join(path, 'data'))
  const running = await startListening({
    NODE_OPTIONS: `--import ${join(path, 'hide.mjs')}`,
    DATA_DIR: join(path, 'data'),
    SERVICE_API_KEY: API_KEY,
  })
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const response = await fetch(`${running.url}/v1/mfa`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, traceparent },
    body: new URLSearchParams({ User: EMAIL.email, Type: 'EMAIL' }),
  })
  expect(response.status).toBe(200)
  await eventually(() => expect(running.log()).toContain('http.request'))
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  expect(running.log()).not.toContain('"trace"')
})
