import type { Method } from './methods.js'

/** Authentication method references of RFC 8176 that this package states, in the order in which it lists them (R19). */
export const AMR_VALUES = ['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'] as const

/** One of these values. */
export type Amr = (typeof AMR_VALUES)[number]

/**
 * What a passed method adds to `amr`. RFC 8176 has no word for email or WhatsApp: a code by email is a one-time
 * password, a WhatsApp message is a text message to a registered number.
 */
export const METHOD_AMR: Readonly<Record<Method | 'backup', readonly Amr[]>> = {
  app: ['otp'],
  email: ['otp'],
  sms: ['sms'],
  whatsapp: ['sms'],
  call: ['tel'],
  dual: ['otp', 'sms'],
  backup: ['otp'],
}

/**
 * `before` and what a passed method adds, each value once, in a fixed order; with `mfa` once two different factors
 * were shown. A code by SMS after a sign-in by SMS is the same factor twice.
 */
export function addAmr(before: readonly Amr[], method: Method | 'backup'): Amr[] {
  const added = METHOD_AMR[method]
  const proven = new Set<Amr>([...before, ...added])
  if (before.some((value) => !added.includes(value))) proven.add('mfa')
  return AMR_VALUES.filter((value) => proven.has(value))
}
