import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { type AllowedHost, isAllowedHost } from './allowed-hosts.js'
import { globalLookup, isGlobalIPv6, NotGlobalError } from './public-address.js'

/** Decides what a request may connect to. */
export type ConnectionAgent = HttpAgent

/** The addresses that requests may go to. */
export interface AddressRules {
  /** Hosts for which http and private addresses are allowed. */
  readonly hosts: readonly AllowedHost[]
  /** Resolves names. Defaults to the system's resolver. */
  readonly lookup?: LookupFunction
  /** The allowed ports of all other hosts. Defaults to 443. */
  readonly ports?: readonly number[]
}

/**
 * The agent for requests to an address that is not in the settings of the service (R87): it connects only by https, to a public address, or
 * to a host that the operator allows. It resolves the name once and checks all its addresses, when the connection is made.
 * `undefined` when the address is not allowed whatever its name resolves to.
 */
export function publicAgent(url: URL, rules: AddressRules, keepAlive = false): ConnectionAgent | undefined {
  const { hosts, lookup, ports = [443] } = rules
  if (url.username || url.password) return undefined
  const agentOptions = { keepAlive, ...(lookup && { lookup }) }
  if (isAllowedHost(hosts, url)) {
    if (url.protocol === 'https:') return new HttpsAgent(agentOptions)
    return url.protocol === 'http:' ? new HttpAgent(agentOptions) : undefined
  }
  if (url.protocol !== 'https:' || !ports.includes(Number(url.port || 443))) return undefined
  if (url.hostname.startsWith('[') && !isGlobalIPv6(url.hostname.slice(1))) return undefined
  return new RequestFilteringHttpsAgent({ keepAlive, lookup: globalLookup(lookup) })
}

/** Whether a request failed because its name has an address that is not allowed. */
export function isForbiddenAddress(error: unknown): boolean {
  if (error instanceof NotGlobalError) return true
  // The agent does not throw a special error class for a forbidden address.
  return error instanceof Error && error.message.includes('is not allowed. Because')
}
