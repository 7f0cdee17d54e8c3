import type { CodeMethod } from './methods.js'

/** The authentication method references (RFC 8176) that this package uses, in the order in which it lists them (R19). */
export const AMR_VALUES = ['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'] as const

/** One of these values. */
export type Amr = (typeof AMR_VALUES)[number]

/**
 * The values that a verified code of each method adds to `amr`. RFC 8176 has none for email and WhatsApp: a code by email
 * counts as a one-time password, a WhatsApp message as a text message to a registered number.
 */
export const METHOD_AMR: Readonly<Record<CodeMethod | 'backup', readonly Amr[]>> = {
  app: ['otp'],
  email: ['otp'],
  sms: ['sms'],
  whatsapp: ['sms'],
  call: ['tel'],
  dual: ['otp', 'sms'],
  backup: ['otp'],
}

/**
 * The values that an accepted key adds to `amr`. The flags of its response decide, not the ceremony that asked: a key that can be
 * synced is `swk`, any other `hwk`, and `user` is added if the authenticator verified the user.
 */
export function keyAmr(key: { readonly backupEligible: boolean }, userVerified: boolean): readonly Amr[] {
  return [key.backupEligible ? 'swk' : 'hwk', ...(userVerified ? (['user'] as const) : [])]
}

/**
 * Adds what was proven to `before`: each value once, in a fixed order, with `mfa` as soon as there are two different factors. A code
 * by SMS after a sign-in by SMS is the same factor twice. A key with user verification is two factors.
 */
export function addAmr(before: readonly Amr[], added: readonly Amr[]): Amr[] {
  const proven = new Set<Amr>([...before, ...added])
  if (before.some((value) => !added.includes(value)) || added.includes('user')) proven.add('mfa')
  return AMR_VALUES.filter((value) => proven.has(value))
}
