import type { Key } from 'countersign/protocol'
import type { VaultUser } from '../store/users.js'

const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
})
const signedDollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const day = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' })
const clock = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium' })

/** `$2,480` */
export const money = (amount: number): string => dollars.format(amount)

/** `+$2,480` or `-$20` */
export const signedMoney = (amount: number): string => signedDollars.format(amount)

/** `Nov 20` */
export const date = (at: Date): string => day.format(at)

/** `Nov 20, 2026, 9:42:11 AM` */
export const moment = (at: Date | number): string => clock.format(at)

/** A second factor in words: its method and its contact. */
export interface NamedFactor {
  readonly name: string
  readonly to: string
}

/** What a key is, in words. Its name is the user's. */
export function keyInWords({ method, backupEligible }: Key): string {
  if (method === 'security-key') return 'Security key'
  return backupEligible ? 'Passkey, synced' : 'Passkey, on one device'
}

/** The second factors of a user, in words. Only the user sees them, so the contacts are not masked. */
export function factorsInWords(user: VaultUser): NamedFactor[] {
  const phone = user.phone ?? ''
  const words = {
    sms: { name: 'Text message', to: phone },
    whatsapp: { name: 'WhatsApp', to: phone },
    call: { name: 'Phone call', to: phone },
    email: { name: 'Email', to: user.email },
    dual: { name: 'Email and text message together', to: `${user.email} and ${phone}` },
  }
  const app = user.appUser === null ? [] : [{ name: 'Authenticator app', to: user.appUser }]
  return [...app, ...user.methods.map((method) => words[method])]
}
