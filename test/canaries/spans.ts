import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const exporter = new InMemorySpanExporter()

/** Sets up an SDK of OpenTelemetry in this process. */
export function startTracing(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
}

/** Removes it. Other tests of this process have no traces. */
export function stopTracing(): void {
  trace.disable()
  context.disable()
  exporter.reset()
}

/** The attributes of the spans that have ended since the last call. */
export function spans(): readonly unknown[] {
  const ended = exporter.getFinishedSpans()
  exporter.reset()
  return ended.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
}
