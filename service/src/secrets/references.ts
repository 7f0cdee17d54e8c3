import type { Application } from '../application.js'
import { allKeys, type Keys, mac } from './keys.js'

/** Stands for an account in the log: always the same for one account, and nothing leads back from it. */
export function accountReference(keys: Keys, application: Pick<Application, 'id'>, account: string): string {
  return mac(keys.references, [application.id, account]).toString('hex').slice(0, 12)
}

/** Stands for a mailbox or phone number in the outbox: equal for equal contacts, and nothing leads back from it. */
export function recipientReference(keys: Keys, application: string, to: string): string {
  return mac(keys.references, [application, 'recipient', to.toLowerCase()]).toString('base64url').slice(0, 22)
}

/** The same under the current secret and the former ones. */
export function recipientReferences(keys: Keys, application: string, to: string): string[] {
  return allKeys(keys).map((key) => recipientReference(key, application, to))
}
