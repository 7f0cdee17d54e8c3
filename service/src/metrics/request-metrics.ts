import { Histogram, type Registry } from 'prom-client'

/** Takes a request that was answered. `route` is its template, so that nothing from an address becomes a label. */
export type RequestObserver = (request: {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}) => void

export function requestTimes(registry: Registry): RequestObserver {
  const times = new Histogram({
    name: 'countersign_http_request_seconds',
    help: 'Requests by route and status, and how long they took',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 3, 10],
    registers: [registry],
  })
  return ({ method, route, status, seconds }) => times.observe({ method, route, status }, seconds)
}
