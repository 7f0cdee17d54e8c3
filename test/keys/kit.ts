import type { Test } from 'supertest'
import { onTestFinished } from 'vitest'
import type { MfaEvent, MfaOptions, MfaService } from '../../src/index.js'
import {
  type MfaTestKit,
  mfaTestKit,
  type SoftwareAuthenticator,
  type SoftwareAuthenticatorOptions,
  softwareAuthenticator,
} from '../../src/testing/index.js'
import { sendApproved } from '../kit/approved-change.js'
import { type HostSetup, host, jsonAgent, type TestUser } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

export const PAGE = { origin: 'https://vault.example' }

type Agent = ReturnType<typeof jsonAgent>
type Method = 'security-key' | 'passkey'

/** A host whose service keeps keys. `change` wraps the service. */
export function keyHost({
  change = (service) => service,
  options,
  ...setup
}: HostSetup & {
  readonly change?: (service: MfaService) => MfaService
  readonly options?: Partial<MfaOptions<TestUser>>
} = {}) {
  const kit = mfaTestKit({ relyingParty: { id: 'vault.example' } })
  newestKit = kit
  onTestFinished(() => kit.reset())
  const events: MfaEvent[] = []
  const notices: { readonly type: string; readonly text: string; readonly keyName?: string }[] = []
  const made = host({
    ...setup,
    options: {
      service: change(kit.service),
      onEvent: (event) => void events.push(event),
      notices: { onNotice: (_user, notice) => void notices.push(notice) },
      ...options,
    },
  })
  const types = () => events.map(({ type }) => type)
  return { ...made, kit, events, types, notices }
}

export type KeyHost = ReturnType<typeof keyHost>

/** A browser in which a user has shown the first factor, and a code by the factor if one is named. */
export async function signedIn({ app, kit }: KeyHost, name: string, factor?: 'sms' | 'email') {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  if (factor !== undefined) await showCode({ kit }, agent, factor)
  return agent
}

/** Shows a code that is sent. */
export async function showCode({ kit }: Pick<KeyHost, 'kit'>, agent: Agent, factor: 'sms' | 'email') {
  await agent.post('/mfa/challenge').send({ factor }).expect(200)
  const code = kit.inbox.all()[0]?.code
  await agent.post('/mfa/verify').send({ code }).expect(200)
}

/** Adds a key of a new authenticator, if it may. */
export async function tryKey(
  agent: Agent,
  method: Method,
  { name, ...authenticator }: SoftwareAuthenticatorOptions & { readonly name?: string } = {},
) {
  const device = softwareAuthenticator(authenticator)
  const options = await approvedByAny(agent, () => agent.post('/mfa/keys/options').send({ method }))
  if (options.status !== 200) throw new Error(`no key may be added: ${JSON.stringify(options.body)}`)
  const { body } = options
  const response = device.create(body.publicKey, PAGE)
  const added = await agent.post('/mfa/keys').send({ method, response, name })
  if (added.status === 200) devices.set(agent, { ...devices.get(agent), [method]: device })
  return { device, added }
}

/** The keys that were added in a browser. */
const devices = new WeakMap<Agent, Partial<Record<string, ReturnType<typeof softwareAuthenticator>>>>()

let newestKit: MfaTestKit | undefined

/** Sends a request that adds a factor, and approves it by a key of this browser, the app, or a code that is sent. */
export function approvedByAny(agent: Agent, send: () => Test) {
  return sendApproved(agent, send, async (factor, approval) => {
    if (factor === 'app') {
      const [user = ''] = newestKit?.apps.users() ?? []
      return { code: newestKit?.apps.code(user), factor }
    }
    const { body } = await agent
      .post('/mfa/challenge')
      .set('Accept', 'application/json')
      .send({ factor, approval })
      .expect(200)
    const device = devices.get(agent)?.[factor]
    return device
      ? { response: device.get(body.publicKey, PAGE), factor }
      : { code: newestKit?.inbox.all()[0]?.code }
  })
}

/** Adds a key of a new authenticator, which is returned. */
export async function addKey(agent: Agent, method: Method, options?: Parameters<typeof tryKey>[2]) {
  const { device, added } = await tryKey(agent, method, options)
  if (added.status !== 200) throw new Error(`the key was not added: ${JSON.stringify(added.body)}`)
  return { device, key: added.body.key as { readonly id: string; readonly name: string } }
}

/** The response of a key to a new challenge. */
export async function assertion(
  agent: Agent,
  factor: Method,
  device: ReturnType<typeof softwareAuthenticator>,
) {
  const { body } = await agent.post('/mfa/challenge').send({ factor }).expect(200)
  return device.get(body.publicKey, PAGE)
}

/** Shows the passkey of a device, as before a change of factors: its setup permits none. */
export async function showPasskey(agent: Agent, device: SoftwareAuthenticator) {
  const response = await assertion(agent, 'passkey', device)
  await agent.post('/mfa/verify').send({ factor: 'passkey', response }).expect(200)
}
