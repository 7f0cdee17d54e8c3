import { requireMfa } from '../../src/index.js'
import type { IssuerOptions } from '../../src/options/login.js'
import { type HostSetup, host, jsonAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

export const ISSUER = 'https://id.example'

export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** Claims of an identity provider at which the user just showed a second factor. */
export const claims = (more: object = {}) => ({
  issuer: ISSUER,
  amr: ['pwd', 'mfa'],
  authTime: nowSeconds(),
  ...more,
})

/** The values that count at the provider. */
export const COUNTED: IssuerOptions = {
  amr: { mfa: 'strong', hwk: 'phishing-resistant' },
  acr: { phr: 'phishing-resistant', gold: 'strong' },
  stepUpPath: '/login/company',
}

/** A host whose logins bring along what the test says. */
export function evidencedHost({
  issuers = { [ISSUER]: COUNTED },
  ...setup
}: HostSetup & { issuers?: Record<string, IssuerOptions> } = {}) {
  let given: unknown
  const events: { type: string; reason?: string }[] = []
  const warnings: string[] = []
  const made = host({
    ...setup,
    options: {
      ...setup.options,
      login: { evidence: () => given as undefined, issuers, ...setup.options?.login },
      logger: { warn: (message) => void warnings.push(message), error: () => {} },
      onEvent: (event) => void events.push(event),
    },
    routes: (app, mfa, auth) => {
      app.post('/wire', requireMfa({ minStrength: 'phishing-resistant', maxAge: '5m' }), (_req, res) => {
        res.json({ done: true })
      })
      app.post('/app-only', requireMfa({ methods: ['app'] }), (_req, res) => void res.json({ done: true }))
      app.get('/safe', requireMfa({ maxAge: '5m' }), (_req, res) => void res.send('open'))
      setup.routes?.(app, mfa, auth)
    },
  })
  return {
    ...made,
    /** The events, without the warnings, which are in the log as well. */
    get events() {
      return events.filter(({ type }) => type !== 'warning')
    },
    warnings,
    /** Signs a user in with this evidence. */
    async signIn(name: string, evidence: unknown, agent = jsonAgent(made.app)) {
      given = evidence
      const { body } = await login(agent, name).expect(200)
      return { agent, mfa: body.mfa }
    },
    /** The evidence that the next login brings along. */
    bring(evidence: unknown) {
      given = evidence
    },
  }
}
