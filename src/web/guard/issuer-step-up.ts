import type { Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { listAcrValues, type Strength } from '../../protocol/factor.js'
import type { MfaRecord } from '../../session/record.js'
import type { Problem } from '../http/problem.js'
import type { Rule } from './rule.js'

/** Where a session shows a factor again, and what it takes. */
export interface StepUpTarget {
  /** The issuer that saw the factor of this session, with the host's route to it; absent if a factor of the account is asked for. */
  readonly issuer?: { readonly name: string; readonly path: string }
  /** The requirements of the rule, as OpenID Connect and RFC 9470 express them. */
  readonly acrValues: readonly string[]
  readonly maxAgeSeconds: number
}

/** Where a session that does not fulfill a rule shows a factor again: where it showed one before. */
export function stepUpTarget(
  { issuers }: Settings['login'],
  record: MfaRecord,
  rule: Pick<Rule, 'accepts' | 'acceptsEvidence' | 'maxAgeMs' | 'strengths'>,
): StepUpTarget {
  const maxAgeSeconds = Math.floor(rule.maxAgeMs / 1000)
  const own = { acrValues: listAcrValues(rule.strengths), maxAgeSeconds }
  if (record.stage !== 'verified' || !record.evidence?.strength) return own
  const { evidence, shown } = record
  const issuer = Object.hasOwn(issuers, evidence.issuer) ? issuers[evidence.issuer] : undefined
  // A session that showed a factor of the account since then rests on that one.
  if (!issuer?.stepUpPath || Object.keys(shown).length > 0) return own
  const accepts = (strength: Strength) => rule.acceptsEvidence?.(strength) ?? false
  const acrValues = Object.entries(issuer.acr).flatMap(([acr, strength]) => (accepts(strength) ? [acr] : []))
  if (acrValues.length === 0 && !Object.values(issuer.amr).some(accepts)) return own
  return { issuer: { name: evidence.issuer, path: issuer.stepUpPath }, acrValues, maxAgeSeconds }
}

/** The address of the host's route to an issuer, with what OpenID Connect calls the parameters of the request. */
export function stepUpAddress(path: string, { acrValues, maxAgeSeconds }: StepUpTarget): string {
  const query = new URLSearchParams()
  if (acrValues.length > 0) query.set('acr_values', acrValues.join(' '))
  query.set('max_age', String(maxAgeSeconds))
  return `${path}?${query.toString()}`
}

/** Tells a program what a refused rule requires (RFC 9470, section 3). */
export function setStepUpHeader(
  res: Response,
  { code }: Problem,
  { acrValues, maxAgeSeconds }: StepUpTarget,
): void {
  if (code !== 'step_up_required' && code !== 'mfa_required') return
  const values = acrValues.map((value) => value.replaceAll(/[^\x20-\x7e]|["\\]/g, ''))
  const acr = values.length > 0 ? `, acr_values="${values.join(' ')}"` : ''
  res.set(
    'WWW-Authenticate',
    `Bearer error="insufficient_user_authentication"${acr}, max_age="${maxAgeSeconds}"`,
  )
}
