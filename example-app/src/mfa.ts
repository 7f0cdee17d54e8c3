import type { FactorInput, MfaOptions } from 'countersign'
import type { Config } from './config.js'
import type { Users, VaultUser } from './store/users.js'

/** What Vault gives to every part of countersign. */
export function vaultMfa(
  config: Pick<Config, 'limits' | 'halfLoginMs' | 'codeLifeMs'>,
  service: MfaOptions['service'],
  users: Users,
  redis?: object,
): MfaOptions<VaultUser> {
  return {
    service,
    factors: factorsOf,
    userId: (user) => user.id,
    appContact: (user) => user.email,
    onAppEnrolled: (user, factor) => users.rememberApp(user.id, factor.user),
    onEvent: ({ at, ...event }) => console.info(new Date(at).toISOString(), 'mfa', JSON.stringify(event)),
    appName: 'Vault',
    // Its pages, in our colours.
    stylesheet: '/mfa-theme.css',
    // Somebody halfway through signing in can ask who they are (nobody yet), and read their messages in development.
    open: ['/me', '/mfa-login', '/inbox'],
    halfLoginMs: config.halfLoginMs,
    codeLifeMs: config.codeLifeMs,
    limits: { ...config.limits, redis },
  }
}

/** The second factors in a customer's own record. */
export function factorsOf({ appUser, methods, email, phone }: VaultUser): FactorInput[] {
  const app: FactorInput[] = appUser === null ? [] : [{ method: 'app', user: appUser }]
  return [
    ...app,
    ...methods.map((method): FactorInput => {
      if (method === 'email') return { method, email }
      if (phone === null) throw new Error(`A customer has ${method} as a second factor and no telephone.`)
      return method === 'dual' ? { method, email, phone } : { method, phone }
    }),
  ]
}
