import { KEY_METHODS, type KeyMethod } from '../protocol/methods.js'
import { type FetchAgent, type FirstFactor, requestsOf, type TestAgent } from './agent.js'
import type { SoftwareAuthenticator } from './software-authenticator.js'

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
export interface SigningKeyUser extends KeyUser {
  /** The id or method of a factor. Defaults to the first key that the app offers. */
  readonly factor?: string | undefined
  /** The first factor. By default, the agent has already passed it. */
  readonly login?: FirstFactor | undefined
}

/** A user who adds a security key or a passkey. */
export interface AddingKeyUser extends KeyUser {
  /** Defaults to `passkey`. */
  readonly method?: KeyMethod | undefined
  /** The user's name for it. */
  readonly name?: string | undefined
}

/**
 * Signs a user in with a security key or a passkey as a browser would, or confirms a step-up with it.
 * @returns the path to which the app sends the user next.
 * @throws if a request fails; the error names the request and the code of the response. If the authenticator has no such key, it is
 * the error of a browser.
 */
export async function signInWithKey(
  agent: TestAgent | FetchAgent,
  { authenticator, factor, login, origin, path = '/mfa' }: SigningKeyUser,
): Promise<string> {
  const requests = requestsOf(agent, 'signInWithKey')
  const chosen = await requests.chooseFactor(path, { login, wanted: factor, canUse: isKey })
  const challenge = await requests.step(`${path}/challenge`, { factor: chosen })
  const publicKey: { readonly rpId?: string } = Object(challenge.publicKey)
  const response = authenticator.get(publicKey, { origin: origin ?? `https://${publicKey.rpId}` })
  const { next } = await requests.step(`${path}/verify`, { factor: String(challenge.factor), response })
  return typeof next === 'string' ? next : '/'
}

/**
 * Adds a security key or a passkey for a signed-in user as a browser would.
 * @returns the id of the key.
 * @throws if a request fails; the error names the request and the code of the response.
 */
export async function addKey(
  agent: TestAgent | FetchAgent,
  { authenticator, method = 'passkey', name, origin, path = '/mfa' }: AddingKeyUser,
): Promise<string> {
  const requests = requestsOf(agent, 'addKey')
  const prepared = await requests.step(`${path}/keys/options`, { method })
  const publicKey: { readonly rp?: { readonly id?: string } } = Object(prepared.publicKey)
  const response = authenticator.create(publicKey, { origin: origin ?? `https://${publicKey.rp?.id}` })
  await requests.step(`${path}/keys`, { method, response, ...(name !== undefined && { name }) })
  return response.id
}

/** Whether a method is confirmed with a key. */
export function isKey(method: string): boolean {
  return KEY_METHODS.some((known) => known === method)
}
