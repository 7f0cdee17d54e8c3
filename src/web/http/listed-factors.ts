import { listOfferedFactors, type MfaUser } from '../../flows/user.js'
import type { FactorView } from '../../pages/view.js'
import { type Factor, getStrength, type Strength } from '../../protocol/factor.js'
import { maskForOwner } from '../../protocol/masked-contact.js'

type MaskedFactor = Pick<FactorView, 'id' | 'method' | 'to' | 'label'>

/** A factor as pages and responses show it, with its contact masked (R46). */
export function factorView({ id, method, contact, label }: Factor): MaskedFactor {
  return { id, method, to: maskForOwner(contact), ...(label && { label }) }
}

/** A factor as JSON responses list it, with its strength; pages describe the strength in words (R48). */
export interface ListedFactor extends MaskedFactor {
  readonly strength: Strength
}

/** Lists factors as responses have them. */
export function listFactors(factors: readonly Factor[]): ListedFactor[] {
  return factors.map((factor) => ({ ...factorView(factor), strength: getStrength(factor.method) }))
}

/** The accepted factors and backup codes that are offered, as responses list them: those not disabled. */
export function listOfferedChoice(
  user: MfaUser,
  { factors, backup }: { readonly factors: readonly Factor[]; readonly backup: boolean },
) {
  const offered = new Set(listOfferedFactors(user))
  return {
    factors: listFactors(factors.filter((factor) => offered.has(factor))),
    backup: backup && !user.disabled?.has('backup'),
  }
}
