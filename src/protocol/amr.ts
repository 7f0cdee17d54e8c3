import type { Method } from './methods.js'

/** The authentication method references (RFC 8176) that this package uses, in the order in which it lists them (R19). */
export const AMR_VALUES = ['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'] as const

/** One of these values. */
export type Amr = (typeof AMR_VALUES)[number]

/**
 * The values that each verified method adds to `amr`. RFC 8176 has none for email and WhatsApp: a code by email counts as
 * a one-time password, a WhatsApp message as a text message to a registered number.
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
 * Adds the values of a verified method to `before`: each value once, in a fixed order, with `mfa` as soon as there are two
 * different factors. A code by SMS after a sign-in by SMS is the same factor twice.
 */
export function addAmr(before: readonly Amr[], method: Method | 'backup'): Amr[] {
  const added = METHOD_AMR[method]
  const proven = new Set<Amr>([...before, ...added])
  if (before.some((value) => !added.includes(value))) proven.add('mfa')
  return AMR_VALUES.filter((value) => proven.has(value))
}
