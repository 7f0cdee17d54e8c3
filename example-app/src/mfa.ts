import type { FactorInput, MfaOptions, StoreConfig } from 'countersign'
import type { Config } from './config.js'
import { chosenLanguage, isLanguage, LANGUAGES, rememberLanguage } from './language.js'
import type { Database } from './store/database.js'
import type { Letters } from './store/letters.js'
import type { Users, VaultUser } from './store/users.js'

/** Where several processes of Vault meet. */
export interface SharedStores {
  readonly db: Pick<Database, 'query'>
  readonly letters: Letters
  readonly redis?: Extract<StoreConfig, { redis: unknown }>['redis'] | undefined
}

/** What Vault gives to every part of countersign. */
export function vaultMfa(
  config: Pick<Config, 'limits' | 'pendingLoginMs' | 'trustMaxAge' | 'publicUrl'>,
  service: MfaOptions['service'],
  users: Users,
  { db, redis, letters }: SharedStores,
): MfaOptions<VaultUser> {
  return {
    service,
    factors: factorsOf,
    userId: (user) => user.id,
    appContact: (user) => user.email,
    onAppEnrolled: (user, factor) => users.rememberApp(user.id, factor.user),
    onEvent: ({ at, ...event }) => console.info(new Date(at).toISOString(), 'mfa', JSON.stringify(event)),
    appName: 'Vault',
    notices: {
      async onNotice({ email }, { type, method, subject, text }) {
        // Backup codes that were mailed need no notice.
        if (type === 'backup_codes_sent' && method !== 'sms') return
        await letters.post({ to: email, subject, text })
      },
      // The user opened the link in a notice, and countersign has revoked everything.
      onCompromise: async ({ userId, notice: { subject, text } }) => {
        const user = await users.find(Number(userId))
        if (user) await letters.post({ to: user.email, subject, text })
      },
    },
    urls: { publicUrl: config.publicUrl },
    // The pages of countersign in Vault's colours.
    pages: { stylesheet: '/mfa-theme.css' },
    languages: {
      // The language that the user chose on Vault's own pages, from the same cookie; otherwise the browser's.
      locale: chosenLanguage,
      offer: Object.keys(LANGUAGES),
      remember: (req, res, language) => {
        if (isLanguage(language)) rememberLanguage(req, res, language)
      },
    },
    login: {
      // Pending logins can ask for their status, choose a language, and read their messages in development.
      pendingPaths: ['/me', '/language', '/inbox'],
      pendingLifetime: config.pendingLoginMs,
    },
    limits: { ...config.limits, ...(redis && { store: { redis } }) },
    trustedDevices: {
      store: redis ? { redis } : inDatabase(db),
      maxAge: config.trustMaxAge,
      // A new password ends the trust in every browser.
      fingerprint: (user) => user.passwordVersion,
    },
  }
}

/** Vault's database, with the few words of a `pg` pool that countersign speaks; PGlite understands them too. */
function inDatabase(db: Pick<Database, 'query'>): StoreConfig {
  return { postgres: { pool: { query: ({ text, values }) => db.query(text, values) } } }
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
