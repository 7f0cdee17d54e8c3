import type * as OpenTelemetry from '@opentelemetry/api'
import { ServiceError } from '../errors.js'

/** OpenTelemetry's API package, which knows the trace of the host, if it is installed. */
export async function loadTracing(): Promise<typeof OpenTelemetry | undefined> {
  return import('@opentelemetry/api').catch(() => undefined)
}

/** By this key, OpenTelemetry's SDK and its instrumentations know that a request is traced already. */
const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/** The span of a request, and the headers of the request, to which those of the trace are added. */
interface TracedRequest {
  readonly method: string
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
}

/** Sends a request as a span of the active trace, continued by `traceparent`. By hand: a propagator may add baggage with user data. */
export async function runInSpan<Reply extends { readonly status: number }>(
  { context, trace, isSpanContextValid, SpanKind, SpanStatusCode }: typeof OpenTelemetry,
  { method, origin, path, headers }: TracedRequest,
  send: (headers: Record<string, string>) => Promise<Reply>,
): Promise<Reply> {
  // Other paths can contain the id of a challenge or a job.
  const name = method === 'POST' ? `POST ${path}` : method
  const attributes = { 'http.request.method': method, 'server.address': new URL(origin).hostname }
  const span = trace.getTracer('countersign').startSpan(name, { kind: SpanKind.CLIENT, attributes })
  const { traceId, spanId, traceFlags, traceState, ...rest } = span.spanContext()
  const traced = isSpanContextValid({ traceId, spanId, traceFlags, ...rest }) && {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(traceState && { tracestate: traceState.serialize() }),
  }
  try {
    const reply = await context.with(context.active().setValue(SUPPRESS_TRACING, true), () =>
      send({ ...headers, ...traced }),
    )
    span.setAttribute('http.response.status_code', reply.status)
    if (reply.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    return reply
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR })
    if (error instanceof ServiceError) span.setAttribute('error.type', error.code)
    throw error
  } finally {
    span.end()
  }
}
