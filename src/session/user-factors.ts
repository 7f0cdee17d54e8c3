import { HostError } from '../errors.js'
import { type Factor, readFactors } from '../protocol/factor.js'
import { appContactOf } from './app-contact.js'
import type { Account, SessionDeps } from './deps.js'
import type { ActiveState } from './state.js'
import { keysOf } from './user-keys.js'

type FactorDeps = Pick<SessionDeps, 'settings' | 'enrolledApps' | 'resets'>

/**
 * The user's factors. The host is asked for them once per request.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service must say whether the user has an app, and fails.
 */
export async function factorsOf(state: ActiveState, deps: FactorDeps): Promise<readonly Factor[]> {
  if (state.factors) return state.factors
  const { factors, reset } = await readAccount(state.user, state.userId, deps)
  state.factors = factors
  state.reset = reset
  return factors
}

/**
 * Asks the host for a user's factors, and the service for an authenticator app that the host does not list. Those that a
 * reset ended are left out until the user has set up a new one.
 * @throws {HostError} when the host's list cannot be used.
 * @throws {ServiceError} when the service fails: without its answer, an app could silently be left out.
 */
export async function readAccount(user: Express.User, userId: string, deps: FactorDeps): Promise<Account> {
  const listed = { user, userId, factors: await listedFactors(user, deps.settings) }
  const factors = await withEnrolledApp(listed, deps)
  const reset = await deps.resets?.find(userId)
  if (!reset) return { user, userId, factors }
  return { user, userId, factors: factors.filter((factor) => !reset.hasEnded(factor)), reset }
}

async function withEnrolledApp(
  { user, userId, factors }: Account,
  { settings, enrolledApps }: FactorDeps,
): Promise<readonly Factor[]> {
  if (!enrolledApps || factors.some(({ method }) => method === 'app')) return factors
  const contact = appContactOf(settings, user, userId, factors)
  if (!(await enrolledApps.has(userId, contact))) return factors
  const isTaken = factors.some(({ id }) => id === 'app')
  const app: Factor = { id: isTaken ? 'enrolled-app' : 'app', method: 'app', contact }
  unlisted.add(app)
  // First, as the strongest one.
  return [app, ...factors]
}

/** The apps that the host does not list. */
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
