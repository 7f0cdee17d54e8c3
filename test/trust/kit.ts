import type { Response } from 'supertest'
import type { MfaEvent } from '../../src/index.js'
import { challengeStrongest, type Host, type HostSetup, host, jsonAgent } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'

export const COOKIE = 'mfa-devices'

/** A host with trusted devices, and the events that it emitted. */
export function trustingHost(setup: HostSetup = {}) {
  const events: MfaEvent[] = []
  const { trustedDevices, ...options } = setup.options ?? {}
  const made = host({
    ...setup,
    options: {
      onEvent: (event) => events.push(event),
      trustedDevices: { store: 'memory', ...trustedDevices },
      ...options,
    },
  })
  return {
    ...made,
    events,
    eventsOf: (type: MfaEvent['type']) => events.filter((event) => event.type === type),
  }
}

export type TrustingHost = ReturnType<typeof trustingHost>
export type Agent = ReturnType<typeof jsonAgent>

/** Sends the first factor, and returns the user and the MFA status after it. */
export async function stateAfterLogin(agent: Agent, name: string) {
  const { body } = await login(agent, name).expect(200)
  return body as { user: { id: string } | null; mfa: { status: string; amr: string[]; trusted: boolean } }
}

/** Signs a user in with both factors, and trusts the browser. */
export async function signInAndTrust(
  host: Pick<Host, 'app' | 'standIn'>,
  name: string,
  { agent = jsonAgent(host.app) } = {},
) {
  await login(agent, name).expect(200)
  const code = await challengeStrongest(host, agent, name)
  await verify(agent, code, { trust: true }).expect(200, { status: 'verified', next: '/', trusted: true })
  return agent
}

/** The cookie of trusted devices that a response sets, as a browser would send it back. */
export function trustCookieOf(response: Response): string {
  return trustLineOf(response)?.split(';')[0] ?? ''
}

/** The `Set-Cookie` header that sets it. */
export function trustLineOf(response: Response): string | undefined {
  return response.get('Set-Cookie')?.find((line) => line.startsWith(`${COOKIE}=`))
}
