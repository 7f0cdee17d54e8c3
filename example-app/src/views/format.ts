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
// The long style names the time zone, which is that of the server.
const clock = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'long' })

/** `$2,480` */
export const money = (amount: number): string => dollars.format(amount)

/** `+$2,480` or `-$20` */
export const signedMoney = (amount: number): string => signedDollars.format(amount)

/** `Nov 20` */
export const date = (at: Date): string => day.format(at)

/** `Nov 20, 2026, 9:42:11 AM UTC` */
export const moment = (at: Date | number): string => clock.format(at)

/** `+1 202 555 0111`; a number of another country in groups of three. */
export function phoneNumber(e164: string): string {
  const american = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(e164)
  return american ? `+1 ${american.slice(1).join(' ')}` : e164.replace(/(\d{3})(?=\d{2})/g, '$1 ')
}

/** A second factor in words: its method and its contact. */
export interface NamedFactor {
  readonly name: string
  readonly to: string
}

/** A key in words: what it is, and the user's name for it. A name that says nothing else, such as "Passkey", stands once. */
function keyInWords({ method, backupEligible, name }: Key): NamedFactor {
  const kind = method === 'security-key' ? 'Security key' : 'Passkey'
  const copies = backupEligible ? 'synced' : 'on one device'
  if (name === kind) return { name: kind, to: copies }
  return { name: method === 'passkey' ? `${kind}, ${copies}` : kind, to: name }
}

/** All second factors of a user, in words. Only the user sees them, so the contacts are not masked. */
export function factorsInWords(user: VaultUser, keys: readonly Key[] = []): NamedFactor[] {
  const phone = user.phone === null ? '' : phoneNumber(user.phone)
  const words = {
    sms: { name: 'Text message', to: phone },
    whatsapp: { name: 'WhatsApp', to: phone },
    call: { name: 'Phone call', to: phone },
    email: { name: 'Email', to: user.email },
    dual: { name: 'Email and text message together', to: `${user.email} and ${phone}` },
  }
  const app = user.kept.app ? [{ name: 'Authenticator app', to: user.email }] : []
  return [...app, ...keys.map(keyInWords), ...user.methods.map((method) => words[method])]
}
