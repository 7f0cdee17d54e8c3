import { SCOPES } from 'countersign/protocol'
import type { Application } from '../src/accounts/application.js'
import { type ApiParts, httpApi } from '../src/api/http/api.js'
import { serviceMetrics } from '../src/api/metrics/metrics.js'
import { readinessCheck } from '../src/api/readiness.js'
import type { FlowContext } from '../src/flows/context.js'
import { idempotentRequests } from '../src/flows/idempotency/idempotent-requests.js'
import { storedInbox } from '../src/messages/carriers/inbox.js'
import { API_KEY } from './kit.js'

/** The HTTP API over a test's own parts, for one application with the API key of the tests. */
export function apiOver(context: FlowContext, application: Application, more: Partial<ApiParts> = {}) {
  return httpApi({
    context,
    findCaller: async (key) =>
      key === API_KEY ? { application, scopes: SCOPES, key: 'key-of-tests', expiresAt: null } : undefined,
    trustedProxies: [],
    inboxes: { test: storedInbox(context.store, context.keys), live: undefined },
    idempotent: idempotentRequests(context.store, context.keys, 8_000),
    metrics: serviceMetrics('0.0.0'),
    metricsKey: undefined,
    metricsWithoutKey: true,
    publicUrl: undefined,
    checkReadiness: readinessCheck({
      store: context.store,
      log: context.log,
      isStopping: () => false,
      isFull: () => false,
    }),
    isStopping: () => false,
    reports: {},
    requestTimeoutMs: 8_000,
    ...more,
  })
}

/** Posts a form with the API key of the tests. */
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
