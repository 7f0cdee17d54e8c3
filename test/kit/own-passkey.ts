import type { MfaOptions } from '../../src/index.js'
import type { TestUser } from './host.js'

type LoginOptions = NonNullable<MfaOptions<TestUser>['login']>
type Context = Parameters<NonNullable<LoginOptions['evidence']>>[0]

/** The options of a host that signs in with passkeys of its own, at the logins that `isPasskey` accepts. */
export function ownPasskey(isPasskey: (context: Context) => boolean = () => true): LoginOptions {
  return {
    evidence: (context) =>
      isPasskey(context) ? { issuer: 'self', amr: ['hwk', 'user'], authTime: Date.now() / 1000 } : undefined,
    issuers: { self: { amr: { hwk: 'phishing-resistant' } } },
  }
}
