import type { Contact } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { BACKUP_METHOD, type BackupMethod } from '../protocol/methods.js'

/** The person behind a request, as the flows see them. */
export interface Person {
  readonly userId: string
  readonly factors: readonly Factor[]
  /** Best language for messages, a BCP 47 tag. */
  readonly locale?: string | undefined
  /** Address of the browser, as Express is configured to see it. */
  readonly clientAddress?: string | undefined
}

/** The factor of that id; a method's name means the first factor of that method. */
export function findFactor(person: Person, name: string): Factor | undefined {
  return person.factors.find(({ id }) => id === name) ?? person.factors.find(({ method }) => method === name)
}

/**
 * Where a person's backup codes go, and so whose codes they are: a mailbox if there is one, else a telephone.
 * Always the same for the same factors, since a backup code counts only for the contact that received it.
 */
export function backupTarget(person: Person): { method: BackupMethod; contact: Contact } | undefined {
  for (const method of ['email', 'sms', 'dual'] as const) {
    const factor = person.factors.find((one) => one.method !== 'app' && BACKUP_METHOD[one.method] === method)
    if (factor) return { method, contact: factor.contact }
  }
  return undefined
}
