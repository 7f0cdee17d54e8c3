import type { CodeMethod, Method } from './methods.js'

/**
 * How hard a factor is to take over. Email is `weak`: it needs one more password (R48), and so is a code that goes to a mailbox
 * and a phone alike. A phone number is `medium`: an attacker must deceive the carrier. An authenticator app is `strong`: its
 * secret is never transmitted after enrollment. A security key or passkey is `phishing-resistant`: it signs for the right site only. A
 * backup code is as strong as the contact that received it, and `medium` if it was shown on a page (R93).
 */
export const STRENGTHS = ['weak', 'medium', 'strong', 'phishing-resistant'] as const
export type Strength = (typeof STRENGTHS)[number]

/**
 * What a user can show as a second factor. `backup` is a backup code that a mailbox received, alone or beside a phone;
 * `phone_backup` is one that only a phone received, `page_backup` one that was shown on a page.
 */
export type ShownMethod = Method | ShownBackup

/** What a code counts as. */
export type ShownCode = CodeMethod | ShownBackup

/** What a backup code counts as. */
export type ShownBackup = 'backup' | 'phone_backup' | 'page_backup'

const STRENGTH: Readonly<Record<ShownMethod, Strength>> = {
  email: 'weak',
  sms: 'medium',
  whatsapp: 'medium',
  call: 'medium',
  dual: 'weak',
  backup: 'weak',
  phone_backup: 'medium',
  page_backup: 'medium',
  app: 'strong',
  'security-key': 'phishing-resistant',
  passkey: 'phishing-resistant',
}

/** The method as users know it: every backup code is `backup`. */
export function methodShown(shown: ShownCode): CodeMethod | 'backup'
export function methodShown(shown: ShownMethod): Method | 'backup'
export function methodShown(shown: ShownMethod): Method | 'backup' {
  return shown === 'phone_backup' || shown === 'page_backup' ? 'backup' : shown
}

/** The strength of a method. */
export function strengthOf(shown: ShownMethod): Strength {
  return STRENGTH[shown]
}

/** The strength of the strongest of these methods; `weak` if there are none. */
export function strongestOf(methods: readonly Method[]): Strength {
  const ranks = methods.map((method) => STRENGTHS.indexOf(strengthOf(method)))
  return STRENGTHS[Math.max(0, ...ranks)] ?? 'weak'
}

/** Whether a method has at least this strength. */
export function isAtLeast(shown: ShownMethod, strength: Strength): boolean {
  return STRENGTHS.indexOf(strengthOf(shown)) >= STRENGTHS.indexOf(strength)
}
