import { isDeepStrictEqual } from 'node:util'
import type { Request } from 'express'
import type { EvidenceFault } from '../flows/events.js'
import { isObject } from '../json.js'
import type { Settings } from '../options/settings.js'
import { findStronger, isStrength, reaches, type Strength } from '../protocol/factor.js'
import { CLOCK_SLACK_MS } from './pending-login.js'
import type { Evidence } from './record.js'

/*
 * The statement that an identity provider, or a login of the host's own, makes about a sign-in. Nothing of it counts unless the host names the issuer
 * and the value (R109).
 */

/** The issuer of what the host's own login proves, such as a passkey sign-in of its own. */
export const OWN_ISSUER = 'self'

/** Faults that a correct host does not have: they are warned about. */
export const WIRING_FAULTS: readonly EvidenceFault[] = [
  'malformed',
  'from_request',
  'unknown_issuer',
  'auth_time_missing',
]

const MAX_VALUES = 20
const MAX_LENGTH = 255

/** How much older than the request for it a step-up may seem, since providers cut `auth_time` to whole seconds. */
const STEP_UP_SLACK_MS = 2_000

/** The values that count at an issuer. */
type IssuerSettings = Settings['login']['issuers'][string]

/** The result of reading evidence: the part that the session keeps, and why it does not count, if it does not. */
export interface EvidenceRead {
  readonly evidence?: Evidence
  readonly fault?: EvidenceFault
}

/** The parts that evidence is read with. */
interface EvidenceRules {
  readonly req: Request
  readonly issuers: Settings['login']['issuers']
  /** When the session asked for a step-up at the issuer, in milliseconds since 1970. */
  readonly askedAt?: number | undefined
}

/** Reads what the option `login.evidence` returned. Only what fits in every respect has a strength. */
export function readEvidence(given: unknown, { req, issuers, askedAt }: EvidenceRules): EvidenceRead {
  const claims = readClaims(given)
  if (!claims) return { fault: 'malformed' }
  if (isFromRequest(req, [given, claims.from.amr])) return { fault: 'from_request' }
  const issuer = Object.hasOwn(issuers, claims.issuer) ? issuers[claims.issuer] : undefined
  if (!issuer) return { fault: 'unknown_issuer' }
  if (claims.authTime === undefined) return { fault: 'auth_time_missing' }
  const now = Date.now()
  const authTimeMs = claims.authTime * 1000
  if (authTimeMs > now + CLOCK_SLACK_MS) return { fault: 'auth_time_in_future' }
  const { amr, acr } = claims
  // A time in the future proves nothing to a rule, so the slack ends here.
  const known = { issuer: claims.issuer, amr, ...(acr && { acr }), authTime: Math.min(authTimeMs, now) }
  const strength = findStrength({ amr, acr }, issuer)
  if (!strength) return { evidence: known, fault: 'not_accepted' }
  if (now - authTimeMs >= issuer.maxAgeMs) return { evidence: known, fault: 'too_old' }
  if (askedAt !== undefined && authTimeMs + STEP_UP_SLACK_MS < askedAt) {
    return { evidence: known, fault: 'before_step_up' }
  }
  const mayEnroll = issuer.mayEnroll !== undefined && reaches(strength, issuer.mayEnroll)
  return { evidence: { ...known, strength, ...(mayEnroll && { mayEnroll }) } }
}

/** The values in evidence, if all of them are its own and have the right types (R111). */
function readClaims(given: unknown) {
  if (!isObject(given)) return undefined
  const own = (name: string): unknown => (Object.hasOwn(given, name) ? given[name] : undefined)
  const [issuer, amr, acr, authTime] = [own('issuer'), own('amr'), own('acr'), own('authTime')]
  if (!isText(issuer)) return undefined
  if (acr !== undefined && !isText(acr)) return undefined
  if (amr !== undefined && !(Array.isArray(amr) && amr.length <= MAX_VALUES && [...amr].every(isText))) {
    return undefined
  }
  if (authTime !== undefined && !isTime(authTime)) return undefined
  return { from: given, issuer, amr: amr ? [...amr] : [], acr, authTime }
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e11

/** The strength that the host gave these values, the strongest of them. */
function findStrength(
  { amr, acr }: { readonly amr: readonly string[]; readonly acr: string | undefined },
  issuer: IssuerSettings,
): Strength | undefined {
  const counted = [
    ...amr.map((value) => (Object.hasOwn(issuer.amr, value) ? issuer.amr[value] : undefined)),
    acr !== undefined && Object.hasOwn(issuer.acr, acr) ? issuer.acr[acr] : undefined,
  ].filter(isStrength)
  return counted.length === 0 ? undefined : counted.reduce(findStronger)
}

/** How many values of a request are looked through. With more, any of them may be the evidence. */
const MAX_VALUES_OF_REQUEST = 500

/** Whether one of these objects is, or equals, part of what the browser sent: body, query, params or cookies. */
export function isFromRequest(req: Request, wanted: readonly unknown[]): boolean {
  const objects = wanted.filter((object) => isObject(object) && Object.keys(object).length > 0)
  const { body, query, params, cookies, signedCookies } = req
  let level: unknown[] = [body, query, params, cookies, signedCookies]
  let seen = 0
  while (level.length > 0) {
    if (level.some((value) => objects.some((object) => isDeepStrictEqual(value, object)))) return true
    seen += level.length
    if (seen > MAX_VALUES_OF_REQUEST) return true
    level = level.flatMap((value) => (isObject(value) ? Object.values(value) : []))
  }
  return false
}
