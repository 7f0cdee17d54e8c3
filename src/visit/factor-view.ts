import type { FactorView } from '../pages/view.js'
import { maskContact } from '../protocol/destination.js'
import type { Factor } from '../protocol/factor.js'
import { type Strength, strengthOf } from '../protocol/strength.js'

/** A factor as pages and answers show it: the contact masked (R46). */
export function factorView({ id, method, contact, label }: Factor): FactorView {
  return { id, method, to: maskContact(contact), ...(label && { label }) }
}

/** A factor as JSON answers list it: labelled with what it is worth, as pages label it in words (R48). */
export interface ListedFactor extends FactorView {
  readonly strength: Strength
}

/** Factors as JSON answers list them. */
export function listFactors(factors: readonly Factor[]): ListedFactor[] {
  return factors.map((factor) => ({ ...factorView(factor), strength: strengthOf(factor.method) }))
}
