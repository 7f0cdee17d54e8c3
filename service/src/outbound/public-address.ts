import { lookup as systemLookup } from 'node:dns'
import { isIPv6, type LookupFunction } from 'node:net'

/**
 * Whether an IPv6 address is global unicast (RFC 4291 §2.4, 2000::/3); all others are reserved or local. The agent's
 * own filter is a list of reserved ranges that lacks `::127.0.0.1` (RFC 4291 §2.5.5.1).
 */
export function isGlobalIPv6(address: string): boolean {
  return /^[23][0-9a-f]{3}:/i.test(address)
}

/** Resolves names like `lookup`, and fails for a name with an IPv6 address that is not global. */
export function globalLookup(lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction {
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
export class NotGlobalError extends Error {
  override readonly name = 'NotGlobalError'
}
