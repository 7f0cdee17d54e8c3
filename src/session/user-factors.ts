import { HostError } from '../errors.js'
import { type Factor, readFactors } from '../protocol/factor.js'
import type { Method } from '../protocol/methods.js'
import { appContactOf } from './app-contact.js'
import type { Account, SessionDeps } from './deps.js'
import type { ActiveState } from './state.js'
import { keysOf } from './user-keys.js'

type FactorDeps = Pick<SessionDeps, 'settings' | 'enrolledFactors' | 'resets'>

/**
 * The user's factors. The host is asked for them once per request.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service must say which factors the user has, and fails.
 */
export async function factorsOf(state: ActiveState, deps: FactorDeps): Promise<readonly Factor[]> {
  if (state.factors) return state.factors
  const { factors, reset } = await readAccount(state.user, state.userId, deps)
  state.factors = factors
  state.reset = reset
  return factors
}

/**
 * Asks the host for a user's factors, and the service for an authenticator app and keys that the host does not list. Those that a
 * reset ended are left out until the user has set up a new one.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service fails: without its answer, a factor could silently be left out.
 */
export async function readAccount(user: Express.User, userId: string, deps: FactorDeps): Promise<Account> {
  const listed = { user, userId, factors: await listedFactors(user, deps.settings) }
  const factors = await withEnrolled(listed, deps)
  const reset = await deps.resets?.find(userId)
  if (!reset) return { user, userId, factors }
  return { user, userId, factors: factors.filter((factor) => !reset.hasEnded(factor)), reset }
}

/** Adds the factors that the service keeps, the strongest first. */
async function withEnrolled(
  { user, userId, factors }: Account,
  { settings, enrolledFactors }: FactorDeps,
): Promise<readonly Factor[]> {
  if (!enrolledFactors) return factors
  const lists = (method: Method) => factors.some((factor) => factor.method === method)
  // A service is asked only about what its answer can add.
  if (!enrolledFactors.kept.keys && lists('app')) return factors
  const contact = appContactOf(settings, user, userId, factors)
  const { app, keys = [] } = await enrolledFactors.of(userId, contact)
  const methods: Method[] = ['passkey', 'security-key', 'app']
  const added = methods
    .filter((method) => (method === 'app' ? app : keys.some((kind) => kind === method)) && !lists(method))
    .map((method): Factor => {
      const isTaken = factors.some(({ id }) => id === method)
      const factor: Factor = { id: isTaken ? `enrolled-${method}` : method, method, contact }
      unlisted.add(factor)
      return factor
    })
  return [...added, ...factors]
}

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
