import type { CountersignService } from '@countersign/service'
import { type Contact, ServiceError } from 'countersign/protocol'
import { type ExternalService, enrollSeedApp } from './enroll-seed-app.js'
import type { SeedUser } from './seed-users.js'
import type { AppSecretFile } from './store/app-secrets.js'
import type { Ledger } from './store/ledger.js'
import type { Users, VaultUser } from './store/users.js'

const DAY_MS = 86_400_000

/** The parts that `seed` works with. */
export interface SeedContext {
  readonly seedUsers: readonly SeedUser[]
  readonly users: Users
  readonly ledger: Ledger
  /** The MFA service, if it runs in this process. Only then the apps have the documented secrets. */
  readonly service: CountersignService | undefined
  /** An external service, and the file for the secrets that it creates. */
  readonly external?: { readonly mfa: ExternalService; readonly secrets: AppSecretFile } | undefined
}

/**
 * Adds missing seed users and their authenticator apps. Running it again, or in several processes at once, adds nothing
 * twice. Returns one line for each change.
 */
export async function seed(context: SeedContext): Promise<string[]> {
  const { seedUsers, users, ledger, service } = context
  const done: string[] = []
  const missing: MissingApp[] = []
  for (const seedUser of seedUsers) {
    const added = await users.add(seedUser)
    const user = added ?? (await users.findByName(seedUser.username))
    if (added) {
      await addHistory(ledger, added, seedUser)
      done.push(`${seedUser.username} was added`)
    }
    if (user && !user.kept.app && seedUser.appSecret) {
      missing.push({ user, documented: seedUser.appSecret })
    }
    // Only into the development inbox, since the email addresses do not exist.
    if (added && seedUser.backupCodes && service?.inbox)
      done.push(await sendBackupCodes(users, service, added))
  }
  return [...done, ...(await enrollApps(context, missing))]
}

/** A user whose authenticator app is missing, and its documented secret. */
interface MissingApp {
  readonly user: VaultUser
  readonly documented: string
}

/** Enrolls the apps. Stops when the service fails, so that the start does not wait for it again and again. */
async function enrollApps(context: SeedContext, missing: readonly MissingApp[]): Promise<string[]> {
  const done: string[] = []
  for (const one of missing) {
    try {
      done.push(await enrollApp(context, one))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const names = missing.slice(done.length).map(({ user }) => user.username)
      return [
        ...done,
        `no authenticator app yet for ${names.join(', ')}: ${error.message} Run \`npm run seed\` to try again.`,
      ]
    }
  }
  return done
}

async function addHistory(ledger: Ledger, user: VaultUser, seedUser: SeedUser): Promise<void> {
  const now = Date.now()
  const salary = Math.round(seedUser.balance * 0.8)
  await ledger.addPast(user.id, { at: new Date(now - 19 * DAY_MS), what: 'Salary', amount: salary })
  await ledger.addPast(user.id, { at: new Date(now - 12 * DAY_MS), what: 'Withdrawal', amount: -40 })
  await ledger.addPast(user.id, { at: new Date(now - 3 * DAY_MS), what: 'From a friend', amount: 25 })
}

async function enrollApp(
  { users, service, external }: SeedContext,
  { user, documented }: MissingApp,
): Promise<string> {
  if (service) {
    await service.importApp({ ...identityOf(user), secret: documented })
    await users.recordFactors(user.id, { app: true })
    return `${user.username} has an authenticator app`
  }
  const secret = external && (await enrollSeedApp(external.mfa, identityOf(user), documented))
  if (secret === undefined) {
    return `no authenticator app yet for ${user.username}: sign in and set it up at /mfa/enroll-app`
  }
  if (secret !== documented) await external?.secrets.save(user.username, secret)
  await users.recordFactors(user.id, { app: true })
  return `${user.username} has an authenticator app with the secret ${secret}`
}

async function sendBackupCodes(users: Users, { mfa }: CountersignService, user: VaultUser): Promise<string> {
  const answer = await mfa.sendBackupCodes({ ...identityOf(user), method: 'email' })
  if (answer.outcome === 'refused') return `${user.username} has no backup codes: ${answer.refusal.reason}`
  await users.recordFactors(user.id, { backupCodes: true })
  return `${user.username} received backup codes by email`
}

/** How the service identifies a user: by email address, and by the same account name that the plugin uses. */
function identityOf(user: VaultUser): { contact: Contact; account: string } {
  return { contact: { kind: 'email', email: user.email }, account: String(user.id) }
}
