import { HostError } from '../errors.js'
import type { Enrolled } from '../flows/enrolled-factors.js'
import { accountAddress, type Contact, foldedContact, parseUser } from '../protocol/contact.js'
import { type Factor, readFactors } from '../protocol/factor.js'
import { isKeyMethod, type Method } from '../protocol/methods.js'
import type { Settings } from '../settings.js'
import { type Account, type ActiveState, type KnownAccount, knownAccount, type SessionDeps } from './state.js'

type FactorDeps = Pick<SessionDeps, 'settings' | 'enrolledFactors' | 'resets'>

/**
 * The user's factors, usable and withheld, and what a reset requires. The host is asked for them once per request.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service must say which factors the user has, and fails.
 */
export async function accountOf(state: ActiveState, deps: FactorDeps): Promise<KnownAccount> {
  if (state.account) return state.account
  const account = knownAccount(await readAccount(state.user, state.userId, deps), state.record)
  state.account = account
  return account
}

/**
 * Asks the host for a user's factors, and the service for an authenticator app and keys that the host does not list. Those that a
 * reset ended are left out until the user has set up a new one.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service fails: without its answer, a factor could silently be left out.
 */
export async function readAccount(user: Express.User, userId: string, deps: FactorDeps): Promise<Account> {
  const listed = await listedFactors(user, deps.settings)
  const { factors, withheld } = await withEnrolled(user, userId, listed, deps)
  const reset = await deps.resets?.find(userId)
  if (!reset) return { user, userId, factors, withheld }
  const isLeft = (factor: Factor) => !reset.hasEnded(factor)
  return { user, userId, factors: factors.filter(isLeft), withheld: withheld.filter(isLeft), reset }
}

/** Adds the factors that the service keeps, the strongest first, and tells those that can be used from those that cannot (R132). */
async function withEnrolled(
  user: Express.User,
  userId: string,
  listed: readonly Factor[],
  { settings, enrolledFactors }: FactorDeps,
): Promise<Pick<Account, 'factors' | 'withheld'>> {
  const contact = appContactOf(settings, user, userId, listed)
  // A service is asked only about what its answer can add.
  const canAdd = enrolledFactors?.kept.mayHaveKeys || listed.every(({ method }) => method !== 'app')
  const { app, keys = [], withheld } = (canAdd && (await enrolledFactors?.of(userId, contact))) || NONE
  const isWithheld = (method: Method) =>
    withheld.some((one) => one === method) || (isKeyMethod(method) && !settings.keys.isOn)
  const unlistedOf = (has: (method: Method) => boolean) =>
    KEPT.filter((method) => has(method) && listed.every((factor) => factor.method !== method)).map(
      (method): Factor => {
        const isTaken = listed.some(({ id }) => id === method)
        const factor: Factor = { id: isTaken ? `enrolled-${method}` : method, method, contact }
        unlisted.add(factor)
        return factor
      },
    )
  const isUsable = (method: Method) => (method === 'app' ? app : keys.some((kind) => kind === method))
  return {
    factors: [...unlistedOf(isUsable), ...listed.filter(({ method }) => !isWithheld(method))],
    withheld: [
      ...unlistedOf((method) => withheld.some((one) => one === method)),
      ...listed.filter(({ method }) => isWithheld(method)),
    ],
  }
}

/** The methods whose factors the service keeps, the strongest first. */
const KEPT = ['passkey', 'security-key', 'app'] as const
const NONE: Enrolled = { app: false, withheld: [] }

/** The factors that the host does not list. */
const unlisted = new WeakSet<Factor>()

/** Whether the host lists a factor of the current request, and not only the service. */
export function isListedByHost(factor: Factor): boolean {
  return !unlisted.has(factor)
}

async function listedFactors(
  user: Express.User,
  settings: SessionDeps['settings'],
): Promise<readonly Factor[]> {
  const read = readFactors(await settings.factors(user))
  if ('factors' in read) return read.factors
  throw new HostError(
    'ERR_MFA_FACTORS',
    [
      `The option factors returned an invalid list, so the user is not signed in: ${read.faults.join('; ')}.`,
      'Return factors such as { method: "sms", phone: "+447700900123" }.',
      `Its argument is the user that your deserializeUser returned, or your strategy at sign-in; ${keysOf(user)}.`,
    ].join(' '),
  )
}

/**
 * The contact under which the service stores a user's app; a name without a mailbox if the user has no contact. Letters are
 * folded to lower case, since services take contacts that differ only in case for one account (R98).
 */
export function appContactOf(
  { appContact }: Pick<Settings, 'appContact'>,
  user: Express.User,
  userId: string,
  factors: readonly Factor[],
): Contact {
  const given: unknown = appContact ? appContact(user) : Reflect.get(user, 'email')
  const contact = typeof given === 'string' ? parseUser(given) : undefined
  if (contact && contact.kind !== 'dual') return foldedContact(contact)
  const [first = accountAddress(userId)] = factors.map((factor) => factor.contact)
  return foldedContact(first.kind === 'dual' ? { kind: 'email', email: first.email } : first)
}

/**
 * The host's id of a user.
 * @throws {HostError} when the user has none.
 */
export function userIdOf(user: Express.User, settings: Settings): string {
  const id: unknown = settings.userId ? settings.userId(user) : Reflect.get(user, 'id')
  if ((typeof id === 'string' && id !== '') || Number.isFinite(id) || typeof id === 'bigint')
    return String(id)
  throw new HostError(
    'ERR_MFA_USER_ID',
    'The user has no id. Set the option userId to a function such as (user) => user.accountNumber, which returns a string or a number that never changes.',
  )
}

const MAX_LISTED_KEYS = 20

/** The names of a user's properties, without their values, so that a missing one is seen (R84). */
function keysOf(user: Express.User): string {
  const keys = Object.keys(user)
  if (keys.length === 0) return 'it has no keys of its own'
  const listed = keys.slice(0, MAX_LISTED_KEYS).join(', ')
  return `it has the keys ${listed}${keys.length > MAX_LISTED_KEYS ? ' and more' : ''}`
}
