import type { Contact } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import { BACKUP_METHOD, type BackupMethod } from '../protocol/methods.js'

/** The user behind a request, as the flows see them. */
export interface MfaUser {
  readonly userId: string
  readonly factors: readonly Factor[]
  /** Best language for messages, a BCP 47 tag. */
  readonly locale?: string | undefined
  /** Address of the browser, as Express is configured to see it. */
  readonly clientAddress?: string | undefined
}

/** The factor of that id; a method's name means the first factor of that method. */
export function findFactor(user: MfaUser, name: string): Factor | undefined {
  return user.factors.find(({ id }) => id === name) ?? user.factors.find(({ method }) => method === name)
}

/**
 * Where a user's backup codes go, and so whose codes they are: a mailbox if there is one, else a telephone.
 * Always the same for the same factors, since a backup code counts only for the contact that received it.
 */
export function backupTarget(user: MfaUser): { method: BackupMethod; contact: Contact } | undefined {
  for (const method of ['email', 'sms', 'dual'] as const) {
    const factor = user.factors.find((one) => one.method !== 'app' && BACKUP_METHOD[one.method] === method)
    if (factor) return { method, contact: factor.contact }
  }
  return undefined
}
