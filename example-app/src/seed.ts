import type { CountersignService } from '@countersign/service'
import type { Contact } from 'countersign/protocol'
import type { SeedUser } from './seed-users.js'
import type { Ledger } from './store/ledger.js'
import type { Users, VaultUser } from './store/users.js'

const DAY_MS = 86_400_000

/** What seeding needs. */
export interface SeedContext {
  readonly people: readonly SeedUser[]
  readonly users: Users
  readonly ledger: Ledger
  /** The MFA service, when it runs in this process; only then can apps be bound and backup codes sent. */
  readonly service: CountersignService | undefined
}

/**
 * Adds the customers who are missing, and the authenticator apps of those who should have one. Running it again, or
 * in several processes at once, changes nothing more. Returns what was done, one line each.
 */
export async function seed({ people, users, ledger, service }: SeedContext): Promise<string[]> {
  const done: string[] = []
  for (const person of people) {
    const added = await users.add(person)
    const user = added ?? (await users.findByName(person.username))
    if (added) {
      await notePast(ledger, added, person)
      done.push(`${person.username} was added`)
    }
    if (user && user.appUser === null && person.appSecret) {
      done.push(await bindApp(service, users, user, person.appSecret))
    }
    // Only into the development inbox: nobody reads the mailboxes of invented people.
    if (added && person.backupCodes && service?.inbox) done.push(await sendBackupCodes(service, added))
  }
  return done
}

async function notePast(ledger: Ledger, user: VaultUser, person: SeedUser): Promise<void> {
  const now = Date.now()
  const salary = Math.round(person.balance * 0.8)
  await ledger.note(user.id, { at: new Date(now - 19 * DAY_MS), what: 'Salary', amount: salary })
  await ledger.note(user.id, { at: new Date(now - 12 * DAY_MS), what: 'Withdrawal', amount: -40 })
  await ledger.note(user.id, { at: new Date(now - 3 * DAY_MS), what: 'From a friend', amount: 25 })
}

async function bindApp(
  service: CountersignService | undefined,
  users: Users,
  user: VaultUser,
  secret: string,
): Promise<string> {
  if (!service)
    return `${user.username} has no authenticator app yet: another service must learn of it at /mfa/enroll-app`
  await service.importApp({ ...reach(user), secret })
  await users.rememberApp(user.id, user.email)
  return `${user.username} has an authenticator app`
}

async function sendBackupCodes({ mfa }: CountersignService, user: VaultUser): Promise<string> {
  const answer = await mfa.sendBackupCodes({ ...reach(user), method: 'email' })
  return answer.outcome === 'refused'
    ? `${user.username} has no backup codes: ${answer.refusal.reason}`
    : `${user.username} has backup codes in the mailbox`
}

/** How the service knows a customer: by mailbox, and by the account name that the plugin gives, too. */
function reach(user: VaultUser): { contact: Contact; account: string } {
  return { contact: { kind: 'email', email: user.email }, account: String(user.id) }
}
