import type { Context, Span } from '@opentelemetry/api'
import type { Logger } from './logger.js'

type OpenTelemetry = typeof import('@opentelemetry/api')

/** Absent unless its API package is installed and an SDK is set up; then nothing in this file does anything. */
let api: OpenTelemetry | undefined
let version = ''

/** Loads OpenTelemetry if its API package is installed, and uses it if this process has set up an SDK. */
export async function loadOpenTelemetry(release: string): Promise<void> {
  version = release
  const loaded = await import('@opentelemetry/api').catch(() => undefined)
  api = loaded && keepsContexts(loaded) ? loaded : undefined
}

/** Whether there is an SDK: without one, work runs in no context. */
function keepsContexts({ context, createContextKey }: OpenTelemetry): boolean {
  const key = createContextKey('countersign')
  return context.with(context.active().setValue(key, true), () => context.active().getValue(key) === true)
}

/** The headers that continue the current trace in another system, as W3C Trace Context has them. */
export function traceHeaders(): { readonly traceparent?: string; readonly tracestate?: string } {
  const current = api?.trace.getActiveSpan()?.spanContext()
  if (!current || !api?.isSpanContextValid(current)) return {}
  const { traceId, spanId, traceFlags, traceState } = current
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  return { traceparent, ...(traceState && { tracestate: traceState.serialize() }) }
}

/** The same logger, whose lines have the id of the trace that they belong to. */
export function tracedLogger(log: Logger): Logger {
  const { trace } = api ?? {}
  if (!trace) return log
  return (event) => {
    const id = trace.getActiveSpan()?.spanContext().traceId
    log(id === undefined ? event : { ...event, trace: id })
  }
}

interface RequestTrace {
  /** Handles the request within its span. */
  run(handle: () => void): void
  /** Ends the span. `record` writes what belongs to it into the log. */
  end(
    answer: { readonly method: string; readonly route: string; readonly status: number },
    record: () => void,
  ): void
}

interface TracedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
}

/**
 * Continues the traces of callers who send `traceparent`, and begins others, except for paths in `untraced`. `undefined` without
 * OpenTelemetry, so that requests have no work with it. If the span of a request is active already, because the host traces its
 * HTTP server, there is no second one.
 */
export function requestTracer(
  untraced: readonly string[],
): ((request: TracedRequest) => RequestTrace | undefined) | undefined {
  const loaded = api
  return loaded && ((request) => (untraced.includes(request.url) ? undefined : traceRequest(loaded, request)))
}

function traceRequest(api: OpenTelemetry, { headers }: TracedRequest): RequestTrace {
  const { context, trace, SpanKind } = api
  const active = context.active()
  if (trace.getSpan(active))
    return { run: (handle) => handle(), end: (_answer, record) => context.with(active, record) }
  const parent = createContext(api, headers.traceparent, headers.tracestate)
  const span = tracer(api).startSpan('request', { kind: SpanKind.SERVER }, parent)
  const own = trace.setSpan(parent, span)
  return {
    run: (handle) => context.with(own, handle),
    end({ method, route, status }, record) {
      context.with(own, record)
      span.updateName(`${method} ${route}`)
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
      })
      if (status >= 500) fail(span)
      span.end()
    },
  }
}

interface TracedMessage {
  readonly id: string
  readonly application: string
  readonly channel: string
  /** The `traceparent` of the request that wrote the message. */
  readonly trace?: string | undefined
}

/** Attempts to deliver a message, as a part of the trace in which it was written, whichever process does it. */
export function traceDelivery<T extends { readonly outcome: string }>(
  message: TracedMessage,
  attempt: () => Promise<T>,
): Promise<T> {
  if (!api) return attempt()
  const { context, trace, SpanKind } = api
  const { id, application, channel } = message
  const parent = createContext(api, message.trace)
  const span = tracer(api).startSpan(
    `deliver ${channel}`,
    {
      kind: SpanKind.CLIENT,
      attributes: {
        'countersign.application': application,
        'countersign.channel': channel,
        'messaging.message.id': id,
      },
    },
    parent,
  )
  return context.with(trace.setSpan(parent, span), async () => {
    try {
      const result = await attempt()
      span.setAttribute('countersign.outcome', result.outcome)
      if (result.outcome === 'failed') fail(span)
      return result
    } catch (error) {
      fail(span)
      throw error
    } finally {
      span.end()
    }
  })
}

/** Runs the work of a timer outside of the trace in which the timer was set. */
export function outsideTraces<T>(work: () => T): T {
  return api ? api.context.with(api.ROOT_CONTEXT, work) : work()
}

// The message of an error could contain a contact, so the span has none.
function fail(span: Span): void {
  if (api) span.setStatus({ code: api.SpanStatusCode.ERROR })
}

const tracer = ({ trace }: OpenTelemetry) => trace.getTracer('@countersign/service', version)

// https://www.w3.org/TR/trace-context/#traceparent-header: later versions may add fields.
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
const MAX_STATE_LENGTH = 512

/** The context of a caller, without a trace if `traceparent` is absent or invalid. */
function createContext(
  { ROOT_CONTEXT, trace, createTraceState, isSpanContextValid }: OpenTelemetry,
  traceparent: unknown,
  tracestate?: unknown,
): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(String(traceparent)) ?? []
  const traceState =
    typeof tracestate === 'string' && tracestate.length <= MAX_STATE_LENGTH
      ? createTraceState(tracestate)
      : undefined
  const caller = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(traceState && { traceState }),
  }
  return isSpanContextValid(caller) ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT
}
