import type { Method } from './methods.js'

/**
 * How hard a factor is to take over, in three steps. A mailbox is reached with one more password (R48); a telephone
 * needs the carrier to be fooled, a backup code to be found; an app's secret never travels after it was set up.
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

/** How strong a method is. */
export function strengthOf(method: Method | 'backup'): Strength {
  return STRENGTH[method]
}

/** Whether a method is at least this strong. */
export function isAtLeast(method: Method | 'backup', strength: Strength): boolean {
  return STRENGTHS.indexOf(strengthOf(method)) >= STRENGTHS.indexOf(strength)
}
