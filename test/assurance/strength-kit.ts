import type { IssuerOptions, PolicyDecision } from '../../src/options/login.js'
import { addKey, type KeyHost, keyHost, PAGE, signedIn } from '../keys/kit.js'
import { DAY } from '../kit/clock.js'
import type { HostSetup, jsonAgent } from '../kit/host.js'
import { ISSUER } from './kit.js'

/** The factors that a test gives to bob. */
export type Held = 'email' | 'sms' | 'app' | 'passkey'
type Agent = ReturnType<typeof jsonAgent>
type Device = Awaited<ReturnType<typeof addKey>>['device']

const COUNTED: IssuerOptions = {
  acr: { medium: 'medium', strong: 'strong', phr: 'phishing-resistant' },
}

/** A host whose policy, and whose identity provider, say what the test says. Bob has these factors, and no other. */
export async function heldBy(held: readonly Held[], setup: HostSetup = {}) {
  let decision: PolicyDecision = { graceUntil: Date.now() + DAY }
  let evidence: unknown
  const made = keyHost({
    ...setup,
    options: {
      policy: () => decision,
      trustedDevices: { store: 'memory' },
      ...setup.options,
      login: {
        evidence: () => evidence as undefined,
        issuers: { [ISSUER]: COUNTED },
        ...setup.options?.login,
      },
    },
    routes: (app, mfa, auth) => {
      app.post(
        '/mfa-login',
        auth.authenticate('mfa'),
        (req, res) => void res.json({ status: req.mfa?.status }),
      )
      setup.routes?.(app, mfa, auth)
    },
  })
  const { bob } = made.users
  if (!bob) throw new Error('There is no bob.')
  bob.factors.length = 0
  const device = held.includes('passkey')
    ? (await addKey(await signedIn(made, 'bob'), 'passkey')).device
    : undefined
  if (held.includes('app')) made.kit.apps.enroll(bob.email)
  if (held.includes('email')) bob.factors.push({ method: 'email', email: bob.email })
  if (held.includes('sms')) bob.factors.push({ method: 'sms', phone: '+447700900102' })
  made.events.length = 0
  made.notices.length = 0
  return {
    ...made,
    device,
    decide: (next: PolicyDecision) => {
      decision = next
    },
    bring: (next: unknown) => {
      evidence = next
    },
  }
}

/** How a code or a key is sent: as a program, as a form of the pages, or to the strategy. */
export type Road = 'json' | 'page' | 'passport'

/** Shows a factor, whether or not it is offered, and returns what became of the login. */
export async function show(
  { kit }: Pick<KeyHost, 'kit'>,
  agent: Agent,
  factor: Held,
  { device, road }: { device: Device | undefined; road: Road },
): Promise<string> {
  const started = await agent.post('/mfa/challenge').send({ factor })
  const shown =
    factor === 'app'
      ? { code: kit.apps.code('bob@example.com') }
      : factor === 'passkey'
        ? { response: started.body.publicKey && device?.get(started.body.publicKey, PAGE) }
        : { code: kit.inbox.all()[0]?.code ?? '000000' }
  const body = { factor, ...shown }
  if (road === 'passport') await agent.post('/mfa-login').send(body)
  else if (road === 'json') await agent.post('/mfa/verify').send(body)
  else {
    const form = { ...body, ...('response' in body && { response: JSON.stringify(body.response) }) }
    await agent.post('/mfa/verify').set('Accept', 'text/html').type('form').send(form)
  }
  return stateOf(agent)
}

/** Where a session stands: what `/secret` and `/mfa` say of it. */
export async function stateOf(agent: Agent): Promise<string> {
  const secret = await agent.get('/secret')
  if (secret.status === 200) return secret.body.mfa.status
  const { enroll, status } = (await agent.get('/mfa')).body
  return enroll ? 'enrollment_required' : status
}
