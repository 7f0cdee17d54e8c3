import type { WarningCode } from '../../options/warnings.js'
import { listApplying } from './at-start.js'

/** The faults that a request for a page of keys, or for their options, shows. */
export interface KeyRequestFacts {
  /** The host that the browser requested, without the port. */
  readonly hostname: string
  /** The header `Permissions-Policy` of the response. */
  readonly permissionsPolicy: unknown
  /** The relying party's id, if it is known. */
  readonly relyingPartyId?: unknown
}

/** A feature whose list of origins is empty, so that no page may use it. */
const FORBIDS_KEYS = /publickey-credentials-(?:get|create)\s*=\s*\(\s*\)/i

const IP_ADDRESS = /^[\d.]+$|^\[?[\da-f]*:/i

/** The warnings about what keeps browsers from using keys on any site. */
export function findKeyWarnings({ hostname, permissionsPolicy }: KeyRequestFacts): WarningCode[] {
  return listApplying({
    MFA_WARN_KEY_IP_ADDRESS: IP_ADDRESS.test(hostname),
    MFA_WARN_KEY_PERMISSIONS_POLICY: FORBIDS_KEYS.test([permissionsPolicy].flat().join(',')),
  })
}

/** Whether the host is in the domain of the relying party. An IP address has a warning of its own. */
export function isInDomain({ hostname, relyingPartyId: id }: KeyRequestFacts): boolean {
  return typeof id !== 'string' || hostname === id || hostname.endsWith(`.${id}`) || IP_ADDRESS.test(hostname)
}
