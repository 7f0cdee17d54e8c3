import type { Request, RequestHandler } from 'express'
import { readObject } from '../../json.js'
import type { Logger } from '../../telemetry/log/logger.js'
import { requestTracer } from '../../telemetry/log/tracing.js'
import type { RequestObserver } from '../metrics/event-metrics.js'
import { callerFields } from './authenticate.js'
import { requestId } from './headers.js'
import { getProblem } from './problem.js'

/** Routes that are called every few seconds; only their failures are logged. */
const PROBES = ['/healthz', '/readyz', '/metrics']

/** Gives each request an id, and records in the log and the metrics how it was answered, one log line per request. */
export function observeRequests(log: Logger, observe: RequestObserver): RequestHandler {
  const traceRequest = requestTracer(PROBES)
  return function observeRequest(request, response, next) {
    const start = performance.now()
    const id = requestId(request)
    response.setHeader('X-Request-Id', id)
    const trace = traceRequest?.(request)
    response.once('close', () => {
      const { method } = request
      const { statusCode: status, writableFinished: isComplete } = response
      const ms = performance.now() - start
      const route = describeRoute(request)
      observe({ method, route, status, seconds: ms / 1000 })
      if (trace) trace.end({ method, route, status }, record)
      else record()

      function record(): void {
        if (PROBES.includes(route) && status < 400) return
        const problem = getProblem(response)
        log({
          // 501 is the normal response of a service that is not configured for transcription.
          level: status >= 500 && status !== 501 ? 'error' : 'info',
          event: 'http.request',
          request: id,
          method,
          route,
          status,
          ms: Math.round(ms * 10) / 10,
          ...callerFields(request),
          ...(problem && { problem }),
          ...(!isComplete && { reason: 'cut off' }),
        })
      }
    })
    if (trace) trace.run(next)
    else next()
  }
}

function describeRoute(request: Request): string {
  const { path } = readObject(request.route)
  return typeof path === 'string' ? path : 'unknown'
}
