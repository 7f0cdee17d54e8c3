import type { CountersignService } from '@countersign/service'
import { type Contact, ServiceError } from 'countersign/protocol'
import { bindOutside, type OutsideService } from './bind-outside.js'
import type { SeedUser } from './seed-users.js'
import type { KeptAppSecrets } from './store/app-secrets.js'
import type { Ledger } from './store/ledger.js'
import type { Users, VaultUser } from './store/users.js'

const DAY_MS = 86_400_000

/** What seeding needs. */
export interface SeedContext {
  readonly people: readonly SeedUser[]
  readonly users: Users
  readonly ledger: Ledger
  /** The MFA service, when it runs in this process; only then are secrets documented, and backup codes sent. */
  readonly service: CountersignService | undefined
  /** Another service, and where the secrets are kept that it gives to apps. */
  readonly outside?: { readonly mfa: OutsideService; readonly secrets: KeptAppSecrets } | undefined
}

/**
 * Adds the customers who are missing, and the authenticator apps of those who should have one. Running it again, or
 * in several processes at once, changes nothing more. Returns what was done, one line each.
 */
export async function seed(context: SeedContext): Promise<string[]> {
  const { people, users, ledger, service } = context
  const done: string[] = []
  const appless: Appless[] = []
  for (const person of people) {
    const added = await users.add(person)
    const user = added ?? (await users.findByName(person.username))
    if (added) {
      await notePast(ledger, added, person)
      done.push(`${person.username} was added`)
    }
    if (user && user.appUser === null && person.appSecret) {
      appless.push({ user, documented: person.appSecret })
    }
    // Only into the development inbox: nobody reads the mailboxes of invented people.
    if (added && person.backupCodes && service?.inbox) done.push(await sendBackupCodes(service, added))
  }
  return [...done, ...(await bindApps(context, appless))]
}

/** Somebody who should have an app, and the secret that should be in it. */
interface Appless {
  readonly user: VaultUser
  readonly documented: string
}

/** Binds the apps until the service fails: then whoever starts Vault is not kept waiting for it again. */
async function bindApps(context: SeedContext, appless: readonly Appless[]): Promise<string[]> {
  const done: string[] = []
  for (const one of appless) {
    try {
      done.push(await bindApp(context, one))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const names = appless.slice(done.length).map(({ user }) => user.username)
      return [
        ...done,
        `no authenticator app yet for ${names.join(', ')}: ${error.message} npm run seed tries again`,
      ]
    }
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
  { users, service, outside }: SeedContext,
  { user, documented }: Appless,
): Promise<string> {
  if (service) {
    await service.importApp({ ...reach(user), secret: documented })
    await users.rememberApp(user.id, user.email)
    return `${user.username} has an authenticator app`
  }
  const secret = outside && (await bindOutside(outside.mfa, reach(user), documented))
  if (secret === undefined) {
    return `no authenticator app yet for ${user.username}: sign in and set one up at /mfa/enroll-app`
  }
  if (secret !== documented) await outside?.secrets.keep(user.username, secret)
  await users.rememberApp(user.id, user.email)
  return `${user.username} has an authenticator app with the secret ${secret}`
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
