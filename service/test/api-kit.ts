import type { Application } from '../src/application.js'
import type { Core } from '../src/flows/context.js'
import { storedInbox } from '../src/carriers/inbox.js'
import { type ApiParts, httpApi } from '../src/http/api.js'
import { idempotentRequests } from '../src/idempotency/idempotent-requests.js'
import { serviceMetrics } from '../src/metrics/metrics.js'
import { readinessOf } from '../src/readiness.js'
import { API_KEY } from './kit.js'

/** The HTTP API over parts that a test has at hand, for one application with the key of the tests. */
export function apiOver(core: Core, application: Application, more: Partial<ApiParts> = {}) {
  return httpApi({
    core,
    applications: async (key) => (key === API_KEY ? application : undefined),
    inboxes: { test: storedInbox(core.store, core.keys), live: undefined },
    idempotent: idempotentRequests(core.store, core.keys),
    metrics: serviceMetrics(),
    metricsKey: undefined,
    publicUrl: undefined,
    look: readinessOf({ store: core.store, log: core.log, isStopping: () => false }),
    isStopping: () => false,
    ...more,
  })
}

/** Posts a form with the key of the tests. */
export async function postForm(
  url: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, ...headers },
    body: new URLSearchParams(parameters),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
