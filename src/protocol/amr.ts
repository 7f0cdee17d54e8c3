import type { Method } from './methods.js'

/** Authentication method references of RFC 8176 that this package states (R19). */
export type Amr = 'pwd' | 'otp' | 'sms' | 'tel' | 'hwk' | 'swk' | 'user' | 'mfa'

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

/** `before` and what a passed method adds, each value once, in a fixed order, with `mfa` for a second factor. */
export function addAmr(before: readonly Amr[], method: Method | 'backup'): Amr[] {
  const proven = new Set<Amr>([...before, ...METHOD_AMR[method], 'mfa'])
  const order: Amr[] = ['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa']
  return order.filter((value) => proven.has(value))
}
