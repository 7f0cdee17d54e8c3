import type { LookupFunction } from 'node:net'
import { type ConnectionAgent, publicAgent } from '../outbound/public-agent.js'
import { isProduction } from '../production.js'
import { LOOPBACK } from './address-parts.js'

/**
 * The agent for requests to an application's own webhook (R87): only by https to port 443 of a public address and, outside
 * production, to any port of this machine. `undefined` when the address is not allowed.
 */
export function ownWebhookAgent(address: string, lookup?: LookupFunction): ConnectionAgent | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const isAllowedLoopback = !isProduction() && LOOPBACK.test(url.hostname)
  const hosts = isAllowedLoopback ? [{ hostname: url.hostname, port: url.port || undefined }] : []
  return publicAgent(url, { hosts, ...(lookup && { lookup }) }, true)
}
