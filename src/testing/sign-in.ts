import { parseUser } from '../protocol/contact.js'
import { maskForOwner } from '../protocol/destination.js'
import { type FetchAgent, type Fields, type FirstFactor, requestsOf, type TestAgent } from './agent.js'
import { isKey } from './key-sign-in.js'
import type { MfaTestKit } from './kit.js'

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
}

/**
 * Signs a user in with the second factor as a browser would: requests a code, reads it from the kit's inbox or the
 * user's authenticator app, and submits it.
 * @returns the path to which the app sends the user next.
 * @throws if a request fails; the error names the request and the code of the response.
 */
export async function signInWithMfa(
  agent: TestAgent | FetchAgent,
  { kit, factor, login, path = '/mfa' }: SignInOptions,
): Promise<string> {
  const requests = requestsOf(agent, 'signInWithMfa')
  const chosen = await requests.chooseFactor(path, {
    login,
    wanted: factor,
    canUse: (method) => !isKey(method),
  })
  const challenge = await requests.step(`${path}/challenge`, { factor: chosen })
  const code = codeFor(kit, challenge)
  const { next } = await requests.step(`${path}/verify`, { code, factor: String(challenge.factor) })
  return typeof next === 'string' ? next : '/'
}

function codeFor(kit: MfaTestKit, { factor, to, delivery }: Fields): string {
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
