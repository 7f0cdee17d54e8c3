import { OperatorError } from './audited-change.js'

/** The roles of operators in the console, from the least to the most powerful. */
export const ROLES = ['viewer', 'support', 'admin'] as const

/** The roles of an operator in the console: `viewer` reads, `support` helps users, `admin` changes everything. */
export type Role = (typeof ROLES)[number]

/** Whether a role may do what `least` may do. */
export function isAtLeast(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least)
}

/** Throws an `OperatorError` when a text is not a role. */
export function checkRole(text: string): asserts text is Role {
  if (ROLES.some((role) => role === text)) return
  throw new OperatorError(`"${text}" is not a role: use ${ROLES.join(', ')}.`)
}
