import { lookup as systemLookup } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'

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

/** Whether an IPv6 address is global unicast (RFC 4291 §2.4). The agent's own list of reserved ranges lacks `::127.0.0.1`. */
function isGlobalIPv6(address: string): boolean {
  return /^[23][0-9a-f]{3}:/i.test(address)
}

/** Resolves names like `lookup`, and fails for a name with an IPv6 address that is not global. */
function globalLookup(lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address)
      const isLocal = addresses.some((address) => isIPv6(address) && !isGlobalIPv6(address))
      if (!error && isLocal) done(new NotGlobalError('The name has an address that is not global.'), '')
      else done(error, found, family)
    })
  }
}

/** A name resolves to an address that must not be connected to. */
class NotGlobalError extends Error {
  override readonly name = 'NotGlobalError'
}

/** A host that the operator allows: recordings may be fetched from its port by http and at private addresses. */
export interface AllowedHost {
  readonly hostname: string
  /** `undefined` stands for the default port of http or https. */
  readonly port: string | undefined
}

/** Parses `media.internal` or `10.0.0.7:8080`; `undefined` when it is neither. */
export function parseHost(text: string): AllowedHost | undefined {
  const parts = /^([^\s/?#@:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text)
  if (!parts || !URL.canParse(`http://${parts[1]}`) || Number(parts[2] ?? 80) > 65_535) return undefined
  return { hostname: new URL(`http://${parts[1]}`).hostname, port: parts[2] }
}

function isAllowedHost(hosts: readonly AllowedHost[], url: URL): boolean {
  const defaultPort = url.protocol === 'https:' ? '443' : '80'
  const port = url.port || defaultPort
  return hosts.some((host) => host.hostname === url.hostname && port === (host.port ?? defaultPort))
}
