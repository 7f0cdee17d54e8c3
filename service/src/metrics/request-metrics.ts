import { Histogram, type Registry } from 'prom-client'

/** Records a request that was answered. `route` is its template, so that no label contains part of an address. */
export type RequestObserver = (request: {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}) => void

export function requestTimes(registry: Registry): RequestObserver {
  const times = new Histogram({
    name: 'countersign_http_request_seconds',
    help: 'Duration of requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 3, 10],
    registers: [registry],
  })
  return ({ method, route, status, seconds }) => times.observe({ method, route, status }, seconds)
}
