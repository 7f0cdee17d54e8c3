import type { Application } from '../application.js'
import { type Keys, mac } from './keys.js'

/** Stands for an account in the log: always the same for one account, and nothing leads back from it. */
export function accountReference(keys: Keys, application: Pick<Application, 'id'>, account: string): string {
  return mac(keys.references, [application.id, account]).toString('hex').slice(0, 12)
}
