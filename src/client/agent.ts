import type { Dispatcher } from 'undici'
import type { ServiceSettings } from '../options/service.js'

/** The maximum size that a call may name for a response, in bytes. */
const MAX_BYTES = 2 * 1024 * 1024
/** How many connections to the service may be open at once. */
const MAX_CONNECTIONS = 64

/** Loads undici after the app has started instead of while it imports this package, which would take twice as long. */
export async function loadAgent({ timeoutMs }: ServiceSettings): Promise<Dispatcher> {
  const { Agent } = await import('undici')
  return new Agent({
    connections: MAX_CONNECTIONS,
    // A verify request uses up its code: it must not wait behind another request, nor be repeated when that one fails.
    pipelining: 1,
    maxResponseSize: MAX_BYTES,
    // HTTP/2 would put several calls on one socket. NODE_TLS_REJECT_UNAUTHORIZED=0 must have no effect here (R73);
    // NODE_EXTRA_CA_CERTS adds a private certificate authority.
    allowH2: false,
    connect: { timeout: timeoutMs, rejectUnauthorized: true },
  })
}
