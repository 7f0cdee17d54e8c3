import type { Method } from './methods.js'

/**
 * How hard a factor is to take over. Email is `weak`: it needs one more password (R48). A phone number is `medium`: an
 * attacker must deceive the carrier. So are backup codes, which can be found. An authenticator app is `strong`: its secret
 * is never transmitted after enrollment.
 */
export const STRENGTHS = ['weak', 'medium', 'strong'] as const
export type Strength = (typeof STRENGTHS)[number]

const STRENGTH: Readonly<Record<Method | 'backup', Strength>> = {
  email: 'weak',
  sms: 'medium',
  whatsapp: 'medium',
  call: 'medium',
  dual: 'medium',
  backup: 'medium',
  app: 'strong',
}

/** The strength of a method. */
export function strengthOf(method: Method | 'backup'): Strength {
  return STRENGTH[method]
}

/** The strength of the strongest of these methods; `weak` if there are none. */
export function strongestOf(methods: readonly Method[]): Strength {
  const ranks = methods.map((method) => STRENGTHS.indexOf(strengthOf(method)))
  return STRENGTHS[Math.max(0, ...ranks)] ?? 'weak'
}

/** Whether a method has at least this strength. */
export function isAtLeast(method: Method | 'backup', strength: Strength): boolean {
  return STRENGTHS.indexOf(strengthOf(method)) >= STRENGTHS.indexOf(strength)
}
