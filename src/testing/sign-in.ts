import { parseUser } from '../protocol/contact.js'
import { maskForOwner } from '../protocol/masked-contact.js'
import { KEY_METHODS, type KeyMethod } from '../protocol/methods.js'
import { getRouteAddress } from '../routes/routes.js'
import {
  type AppRequests,
  type Approve,
  createRequests,
  type FetchAgent,
  type Fields,
  type FirstFactor,
  type TestAgent,
} from './agent.js'
import type { MfaTestKit } from './kit.js'
import type { SoftwareAuthenticator } from './software-authenticator.js'

/** Options of `signInWithMfa`. */
export interface SignInOptions {
  /** The test kit whose service the app uses. */
  readonly kit: MfaTestKit
  /** The id or method of a factor, or `backup`. Defaults to the first one with a code that the app offers. */
  readonly factor?: string | undefined
  /** The first factor. By default, the agent has already passed it. */
  readonly login?: FirstFactor | undefined
  /** Where the plugin's routes are mounted. Defaults to `/mfa`. */
  readonly path?: string | undefined
  /** Approves what a route behind `requireMfa({ bind })` asked for: `approval.id` in its response. Defaults to none. */
  readonly approval?: string | undefined
  /** Whether the app issues tokens. Then the body with them is returned. For a step-up, the `login` of its answer. Defaults to `false`. */
  readonly tokens?: boolean | { readonly login: string } | undefined
}

/**
 * Signs a user in, or approves a request, with a code from the inbox or the user's app, as a browser would. Returns the path to
 * which the app sends the user; with `tokens`, the body of the answer. @throws if a request fails; the error names the request and
 * the code of the response.
 */
export async function signInWithMfa<const Options extends SignInOptions>(
  agent: TestAgent | FetchAgent,
  options: Options,
): Promise<Options extends { readonly tokens: true | object } ? Fields : string>
export async function signInWithMfa(
  agent: TestAgent | FetchAgent,
  { kit, tokens = false, ...shown }: SignInOptions,
): Promise<Fields | string> {
  const requests = createRequests(agent, 'signInWithMfa', Object(tokens).login)
  const canUse = (method: string) => !isKey(method)
  const answer = await showFactor(requests, shown, canUse, (challenge) => ({
    code: findCode(kit, challenge),
  }))
  return tokens ? answer : readNext(answer)
}

/** The path to which the app sends the user. */
function readNext({ next }: Fields): string {
  return typeof next === 'string' ? next : '/'
}

/** Chooses a factor that can be used, starts its challenge and submits the proof. Returns the body of the answer. */
async function showFactor(
  { chooseFactor, step }: AppRequests,
  { factor, login, path = '/mfa', approval }: Omit<SignInOptions, 'kit'>,
  canUse: (method: string) => boolean,
  prove: (challenge: Fields) => object,
): Promise<Fields> {
  const chosen = await chooseFactor(path, { login, wanted: factor, canUse })
  const asked = approval !== undefined && { approval }
  const challenge = await step(getRouteAddress(path, 'challenge').path, { factor: chosen, ...asked })
  const proof = { factor: String(challenge.factor), ...prove(challenge), ...asked }
  return step(getRouteAddress(path, 'verify').path, proof)
}

function findCode(kit: MfaTestKit, { factor, to, delivery }: Fields): string {
  if (factor === 'backup') {
    const [newest] = kit.inbox.all().filter(({ codes }) => codes.length > 1)
    if (newest) return newest.code
    throw new Error('signInWithMfa: the inbox of the kit has no backup codes; request them first')
  }
  const isContactOfUser = (user: string) => {
    const contact = parseUser(user)
    return contact !== undefined && maskForOwner(contact) === to
  }
  if (delivery === 'none') {
    const user = kit.apps.users().find(isContactOfUser)
    if (user) return kit.apps.code(user)
    throw new Error(
      'signInWithMfa: the user has no authenticator app in the kit; add one with kit.apps.enroll(user)',
    )
  }
  const newest = kit.inbox.all().find((message) => isContactOfUser(message.to))
  if (newest) return newest.code
  throw new Error(
    'signInWithMfa: the code is not in the inbox of the kit; check that the option `service` is kit.service and that kit.carrier delivers',
  )
}

/** A user with a security key or a passkey. */
export interface KeyUser {
  /** The user's key. */
  readonly authenticator: SoftwareAuthenticator
  /** The origin of the app's pages, as the service knows it. Defaults to `https://` and the relying party's id. */
  readonly origin?: string | undefined
  /** Where the plugin's routes are mounted. Defaults to `/mfa`. */
  readonly path?: string | undefined
}

/** A user who signs in with a security key or a passkey. */
export interface SigningKeyUser extends KeyUser, Pick<SignInOptions, 'login' | 'approval'> {
  /** The id or method of a factor. Defaults to the first key that the app offers. */
  readonly factor?: string | undefined
}

/** A user who adds a security key or a passkey. */
export interface AddingKeyUser extends KeyUser {
  /** Defaults to `passkey`. */
  readonly method?: KeyMethod | undefined
  /** The user's name for it. */
  readonly name?: string | undefined
  /**
   * Approves the new key, which the app asks of a user who has another factor: `(approval) => signInWithMfa(agent, { kit, approval })`.
   * By default, the app refuses the key then.
   */
  readonly approve?: Approve | undefined
}

/**
 * Signs a user in with a key, or confirms a step-up with it, as a browser would. Returns the path to which the app sends the
 * user. @throws if a request fails, and as a browser if the authenticator has no such key.
 */
export async function signInWithKey(
  agent: TestAgent | FetchAgent,
  { authenticator, origin, ...shown }: SigningKeyUser,
): Promise<string> {
  const requests = createRequests(agent, 'signInWithKey')
  const answer = await showFactor(requests, shown, isKey, (challenge) => {
    const publicKey: { readonly rpId?: string } = Object(challenge.publicKey)
    return { response: authenticator.get(publicKey, { origin: origin ?? `https://${publicKey.rpId}` }) }
  })
  return readNext(answer)
}

/** Adds a key for a signed-in user as a browser would, and returns its id. @throws if a request fails. */
export async function addKey(
  agent: TestAgent | FetchAgent,
  { authenticator, method = 'passkey', name, origin, path = '/mfa', approve }: AddingKeyUser,
): Promise<string> {
  const requests = createRequests(agent, 'addKey')
  const prepared = await requests.step(getRouteAddress(path, 'keyOptions').path, { method }, approve)
  const publicKey: { readonly rp?: { readonly id?: string } } = Object(prepared.publicKey)
  const response = authenticator.create(publicKey, { origin: origin ?? `https://${publicKey.rp?.id}` })
  const named = name !== undefined && { name }
  await requests.step(getRouteAddress(path, 'addKey').path, { method, response, ...named })
  return response.id
}

/** Whether a method is confirmed with a key. */
function isKey(method: string): boolean {
  return KEY_METHODS.some((known) => known === method)
}
