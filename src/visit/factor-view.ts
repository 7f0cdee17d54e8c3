import type { FactorView } from '../pages/view.js'
import { maskContact } from '../protocol/destination.js'
import type { Factor } from '../protocol/factor.js'

/** A factor as pages and answers show it: the contact masked (R46). */
export function factorView({ id, method, contact, label }: Factor): FactorView {
  return { id, method, to: maskContact(contact), ...(label && { label }) }
}

/** Factors as JSON answers list them. */
export function listFactors(factors: readonly Factor[]): FactorView[] {
  return factors.map(factorView)
}
