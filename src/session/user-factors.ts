import { HostError, isOutage } from '../errors.js'
import type { Enrolled } from '../flows/enrolled-factors.js'
import type { RecordedUser } from '../flows/factor-record.js'
import { readObject } from '../json.js'
import type { Settings } from '../options/settings.js'
import { accountAddress, type Contact, foldContact, parseUser } from '../protocol/contact.js'
import { type Factor, getStrength, readFactors } from '../protocol/factor.js'
import { isKeyMethod, type Method } from '../protocol/methods.js'
import { createKnownAccount } from './known-account.js'
import type { Account, ActiveState, KnownAccount, SessionDeps } from './state.js'

type FactorDeps = Pick<
  SessionDeps,
  'settings' | 'enrolledFactors' | 'factorRecord' | 'resets' | 'reportUnusable'
>

/** The user's factors and what a reset requires, asked for once per request. @throws {HostError | ServiceError} as `readAccount`. */
export async function findAccount(state: ActiveState, deps: FactorDeps): Promise<KnownAccount> {
  if (state.account) return state.account
  const account = createKnownAccount(await readAccount(state.user, state.userId, deps), state.record)
  state.account = account
  return account
}

/** The factors of the host and the service, without what a reset ended. @throws {HostError | ServiceError}: none may be left out. */
export async function readAccount(user: Express.User, userId: string, deps: FactorDeps): Promise<Account> {
  return createAccount(await readListedFactors(user, deps.settings), user, userId, deps)
}

/** The same to find out whether a factor is needed. `unconfirmed`: without the service, from a record that has none. */
export async function readAccountAtSignIn(
  user: Express.User,
  userId: string,
  deps: FactorDeps,
): Promise<Account> {
  const listed = await readListedFactors(user, deps.settings)
  try {
    return await createAccount(listed, user, userId, deps)
  } catch (error) {
    const { factorRecord } = deps
    if (!isOutage(error) || listed.length > 0) throw error
    if (!factorRecord.saysNone(await factorRecord.read(user))) throw error
    return removeEnded({ user, userId, factors: [], withheld: [], unconfirmed: true }, deps)
  }
}

async function createAccount(
  listed: readonly Factor[],
  user: Express.User,
  userId: string,
  deps: FactorDeps,
): Promise<Account> {
  deps.reportUnusable(userId, listed)
  return removeEnded({ user, userId, ...(await addEnrolled(user, userId, listed, deps)) }, deps)
}

/** Leaves out the factors that an open reset ended. */
async function removeEnded(
  // Spread over what is left, so it must not hold that already.
  account: Omit<Account, 'existing'> & { readonly existing?: never },
  { resets, settings }: FactorDeps,
): Promise<Account> {
  const reset = await resets.find(account.userId)
  const isLeft = (factor: Factor) => !reset?.hasEnded(factor)
  const factors = account.factors.filter(isLeft)
  const withheld = account.withheld.filter(isLeft)
  const existing = [...factors, ...withheld]
  const hasKey = settings.login.noDowngrade && existing.some(({ method }) => isKeyMethod(method))
  return {
    existing,
    ...account,
    factors,
    withheld,
    ...(reset && { reset }),
    ...(hasKey && { minStrength: getStrength('passkey') }),
  }
}

/** Adds the factors that the service keeps, the strongest first, and tells those that can be used from those that cannot (R132). */
async function addEnrolled(
  user: Express.User,
  userId: string,
  all: readonly Factor[],
  deps: FactorDeps,
): Promise<Pick<Account, 'factors' | 'withheld' | 'weakApp'>> {
  const { settings, enrolledFactors } = deps
  const listed = all.filter(({ unusable }) => !unusable)
  const unusable = all.filter((factor) => factor.unusable)
  const isOff = (method: Method) => isKeyMethod(method) && settings.keys === false
  // A service is asked only about what its answer can add or correct.
  const isComplete = listed.some(({ method }) => method === 'app')
  const { canTell, mayHaveKeys } = enrolledFactors
  if (isComplete && !mayHaveKeys && !(canTell && settings.recordedFactors)) {
    return {
      factors: listed.filter(({ method }) => !isOff(method)),
      withheld: [...listed.filter(({ method }) => isOff(method)), ...unusable],
    }
  }
  const contact = findAppContact(settings, user, userId, listed)
  const enrolled = await findEnrolled({ user, userId, factors: listed, contact }, deps)
  const { app, appDigits: digits, keys = [], withheld, weakApp } = enrolled
  const isWithheld = (method: Method) => withheld.some((name) => name === method) || isOff(method)
  const addDigits = (factor: Factor) => (factor.method === 'app' && digits ? { ...factor, digits } : factor)
  const listUnlisted = (has: (method: Method) => boolean) =>
    KEPT.filter((method) => has(method) && listed.every((factor) => factor.method !== method)).map(
      (method): Factor => {
        const isTaken = all.some(({ id }) => id === method)
        const factor = addDigits({ id: isTaken ? `enrolled-${method}` : method, method, contact })
        unlisted.add(factor)
        return factor
      },
    )
  const isUsable = (method: Method) => (method === 'app' ? app : keys.some((kind) => kind === method))
  return {
    ...(weakApp && { weakApp }),
    factors: [
      ...listUnlisted(isUsable),
      ...listed.filter(({ method }) => !isWithheld(method)).map(addDigits),
    ],
    withheld: [
      ...listUnlisted((method) => withheld.some((name) => name === method)),
      ...listed.filter(({ method }) => isWithheld(method)),
      // The service names an app or a key by the account, whatever contact the host lists for it.
      ...unusable.filter(({ method }) => !isUsable(method)),
    ],
  }
}

/** The methods whose factors the service keeps, the strongest first. */
const KEPT = ['passkey', 'security-key', 'app'] as const

/** The factors that the service keeps: as it says, or as the host's record says if the service cannot tell. */
async function findEnrolled(
  who: RecordedUser,
  { enrolledFactors, factorRecord, settings }: FactorDeps,
): Promise<Omit<Enrolled, 'recorded'>> {
  const enrolled = await enrolledFactors.of(who.userId, who.contact)
  if (enrolled) {
    const missing = await factorRecord.compare(who, enrolled.recorded)
    // They exist, for all that the host knows, and cannot be used (R132, R141).
    return missing.length > 0 ? { ...enrolled, withheld: [...enrolled.withheld, ...missing] } : enrolled
  }
  // Nothing that the service could know of is set up here.
  if (!settings.recordedFactors && !settings.apps) return { app: false, withheld: [] }
  const recorded = await factorRecord.read(who.user)
  if (recorded) return { app: recorded.app, withheld: [] }
  throw new HostError(
    'ERR_MFA_FACTORS',
    'The option recordedFactors returned nothing, and the MFA service cannot tell which users have an authenticator app either, so the user is not signed in. Return { app: false, keys: false, backupCodes: false } for a user for whom onFactorsChanged was never called.',
  )
}

/** A user whose record is meant, with the factors that the host lists. */
export async function createRecordedUser(user: Express.User, settings: Settings): Promise<RecordedUser> {
  const userId = readUserId(user, settings)
  const factors = await readListedFactors(user, settings)
  return { user, userId, factors, contact: findAppContact(settings, user, userId, factors) }
}

/** The factors that the host does not list. */
const unlisted = new WeakSet<Factor>()

/** Whether the host lists a factor of the current request, and not only the service. */
export function isListedByHost(factor: Factor): boolean {
  return !unlisted.has(factor)
}

async function readListedFactors(user: Express.User, settings: Settings): Promise<readonly Factor[]> {
  const read = readFactors(await settings.factors(user))
  if ('factors' in read) return read.factors
  throw new HostError(
    'ERR_MFA_FACTORS',
    [
      `The option factors returned an invalid list, so the user is not signed in: ${read.faults.join('; ')}.`,
      'Return factors such as { method: "sms", phone: "+447700900123" }.',
      `Its argument is the user that your deserializeUser returned, or your strategy at sign-in; ${listProperties(user)}.`,
    ].join(' '),
  )
}

/** The contact of a user's app, in lower case, since some services fold it (R98). May be a name without mailbox. */
export function findAppContact(
  { appContact }: Pick<Settings, 'appContact'>,
  user: Express.User,
  userId: string,
  factors: readonly Factor[],
): Contact {
  const given: unknown = appContact ? appContact(user) : readObject(user).email
  const contact = typeof given === 'string' ? parseUser(given) : undefined
  if (contact && contact.kind !== 'dual') return foldContact(contact)
  const [first = accountAddress(userId)] = factors
    .filter((factor) => !factor.unusable)
    .map(({ contact }) => contact)
  return foldContact(first.kind === 'dual' ? { kind: 'email', email: first.email } : first)
}

/** The host's id of a user. @throws {HostError} when the user has none. */
export function readUserId(user: Express.User, settings: Settings): string {
  const id: unknown = settings.userId ? settings.userId(user) : readObject(user).id
  if ((typeof id === 'string' && id !== '') || Number.isSafeInteger(id) || typeof id === 'bigint')
    return String(id)
  throw new HostError(
    'ERR_MFA_USER_ID',
    'The user has no id. Set the option userId to a function such as (user) => user.accountNumber, which returns a string or a whole number that never changes, below 2^53.',
  )
}

const MAX_LISTED_KEYS = 20

/** The names of a user's properties, without their values, so that a missing one is seen (R84). */
function listProperties(user: Express.User): string {
  const keys = Object.keys(user)
  if (keys.length === 0) return 'it has no keys of its own'
  const listed = keys.slice(0, MAX_LISTED_KEYS).join(', ')
  return `it has the keys ${listed}${keys.length > MAX_LISTED_KEYS ? ' and more' : ''}`
}
