import type { Request } from 'express'
import { allowInsecureRequests, discovery, type IDToken } from 'openid-client'
import { Strategy } from 'openid-client/passport'
import type { VaultContext } from './context.js'
import { COMPANY_SIGN_IN } from './mfa.js'

class CompanyStrategy extends Strategy {
  // A step-up of countersign names both in the address of the route.
  override authorizationRequestParams({ query }: Request) {
    const { acr_values: acrValues, max_age: maxAge } = query
    return {
      // Without it, a provider need not say when the user showed the factors, and its evidence would not count.
      max_age: typeof maxAge === 'string' ? maxAge : '28800',
      ...(typeof acrValues === 'string' && { acr_values: acrValues }),
    }
  }
}

/** Where the identity provider sends the browser back. */
export const companyCallback = (publicUrl: string): string => `${publicUrl}${COMPANY_SIGN_IN}/callback`

/**
 * Returns the Passport strategy of the identity provider, which is asked for its configuration at the first sign-in. `undefined`: Vault
 * has no identity provider.
 */
export function companyStrategy({
  config,
  company,
  users,
}: Pick<VaultContext, 'config' | 'company' | 'users'>): (() => Promise<Strategy>) | undefined {
  const { identityProvider, publicUrl } = config
  if (!company || identityProvider === undefined || publicUrl === undefined) return undefined
  const make = async () =>
    new CompanyStrategy(
      {
        name: 'company',
        config: await discovery(new URL(identityProvider), company.id, company.secret, undefined, {
          // It is a part of this process.
          execute: [allowInsecureRequests],
        }),
        callbackURL: companyCallback(publicUrl),
        scope: 'openid',
      },
      (tokens, done) => {
        const { sub = '', iss = '', amr, auth_time: authTime }: Partial<IDToken> = tokens.claims() ?? {}
        const evidence = { issuer: iss, amr: Array.isArray(amr) ? amr.map(String) : undefined, authTime }
        users.findByName(sub).then((user) => done(null, user ? { ...user, evidence } : false), done)
      },
    )

  let made: Promise<Strategy> | undefined
  return () => {
    const strategy = made ?? make()
    made = strategy
    strategy.catch(() => {
      made = undefined
    })
    return strategy
  }
}
