import type { FactorInput, MfaOptions, StoreConfig } from 'countersign'
import type { Config } from './config.js'
import { chosenLanguage, isLanguage, LANGUAGES, rememberLanguage } from './language.js'
import type { Database } from './store/database.js'
import type { Messages } from './store/messages.js'
import type { Users, VaultUser } from './store/users.js'

/** The route that signs users in at the identity provider. */
export const COMPANY_SIGN_IN = '/login/company'

/** The stores that several processes of Vault share. */
export interface SharedStores {
  readonly db: Pick<Database, 'query'>
  readonly messages: Messages
  readonly redis?: Extract<StoreConfig, { redis: unknown }>['redis'] | undefined
}

/** The options of countersign. */
export function mfaOptions(
  config: Pick<
    Config,
    | 'production'
    | 'limits'
    | 'passkeyOffer'
    | 'pendingLifetime'
    | 'trustMaxAge'
    | 'recoveryWait'
    | 'publicUrl'
    | 'admins'
    | 'identityProvider'
  >,
  service: NonNullable<MfaOptions['service']>,
  users: Users,
  { db, redis, messages }: SharedStores,
): MfaOptions<VaultUser> {
  return {
    // Vault's own inbox also has what Vault sends itself.
    service: 'baseUrl' in service ? service : { ...service, inbox: undefined },
    factors: factorsOf,
    userId: (user) => user.id,
    appContact: (user) => user.email,
    // With them, a user without a second factor can sign in while the service is down.
    onFactorsChanged: (user, factors) => users.recordFactors(user.id, factors),
    recordedFactors: (user) => user.kept,
    // Administrators sign in with a passkey or security key, and set one up first if they have none.
    policy: ({ user }) =>
      config.admins.includes(user.username) ? { require: 'phishing-resistant' } : 'optional',
    keys: keysOf(config, service),
    onEvent: ({ at, ...event }) => console.info(new Date(at).toISOString(), 'mfa', JSON.stringify(event)),
    appName: 'Vault',
    notices: {
      newBrowser: true,
      async onNotice({ email }, { type, method, subject, text }) {
        // Backup codes that were sent by email need no notice, since it would go to the same address.
        if (type === 'backup_codes_sent' && method !== 'sms') return
        await messages.add({ to: email, subject, text })
      },
      // The user confirmed a "this wasn't me" link, and countersign has ended all sessions.
      onCompromise: async ({ userId, notice: { subject, text } }) => {
        const user = await users.find(Number(userId))
        if (user) await messages.add({ to: user.email, subject, text })
      },
    },
    // Its notices have links, which need the public address.
    recovery:
      config.publicUrl === undefined
        ? undefined
        : {
            waitingPeriod: config.recoveryWait,
            requireTwoApprovers: true,
            onNotice: ({ channel, to }, { subject, text, shortText = subject }) =>
              messages.add({ to, subject, text: channel === 'phone' ? shortText : text }),
            onFactorsEnded: (user, factors) =>
              users.endFactors(
                user.id,
                factors.map(({ method }) => method),
              ),
            contacts: ({ phone }) => (phone === null ? [] : [phone]),
          },
    urls: { publicUrl: config.publicUrl },
    // Vault's colors and logo on the pages of countersign.
    pages: {
      stylesheet: '/mfa-theme.css',
      logo: '/favicon.svg',
      addFactorPath: '/phone',
      accountName: (user) => user.username,
      ...(!config.production && !('baseUrl' in service) && { render: withInboxLink }),
    },
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
      pendingLifetime: config.pendingLifetime,
      // A second factor that the identity provider asked for counts like an authenticator app.
      evidence: ({ user }) => user.evidence,
      issuers:
        config.identityProvider === undefined
          ? undefined
          : { [config.identityProvider]: { amr: { mfa: 'strong' }, stepUpPath: COMPANY_SIGN_IN } },
    },
    limits: { ...config.limits, ...(redis && { store: { redis } }) },
    trustedDevices: {
      store: redis ? { redis } : inDatabase(db),
      maxAge: config.trustMaxAge,
      // A new password revokes all trusted devices.
      fingerprint: (user) => user.passwordVersion,
    },
  }
}

/** Adds to each page that asks for a code where the demo delivers it. The inbox itself asks for its key, which no page has (R145). */
const withInboxLink: NonNullable<NonNullable<MfaOptions['pages']>['render']> = (view, frame, standard) => {
  const page = standard(view, frame)
  if (view.page !== 'code' || view.factor === 'backup') return page
  const link = '<p class="mfa-small"><a href="/inbox" target="_blank">Demo: codes arrive in the inbox</a></p>'
  return page.replace('</main>', () => `${link}</main>`)
}

/** The service keeps the keys, and Vault need not store anything. One with the published API cannot tell who has a key. */
function keysOf(
  { passkeyOffer }: Pick<Config, 'passkeyOffer'>,
  service: NonNullable<MfaOptions['service']>,
): MfaOptions['keys'] {
  if ('baseUrl' in service && service.dialect === 'published') return false
  return passkeyOffer === undefined ? true : { offerPasskey: passkeyOffer }
}

/** Vault's database in the form of a `pg` pool, as far as countersign uses it. It may be PGlite. */
function inDatabase(db: Pick<Database, 'query'>): StoreConfig {
  return { postgres: { pool: { query: ({ text, values }) => db.query(text, values) } } }
}

/** The contacts of a user that receive codes, from Vault's own table. Apps and keys are kept by the service. */
export function factorsOf({ methods, email, phone }: VaultUser): FactorInput[] {
  return methods.map((method): FactorInput => {
    if (method === 'email') return { method, email }
    if (phone === null) throw new Error(`The user has the factor ${method} but no phone number.`)
    const manageUrl = '/phone'
    return method === 'dual' ? { method, email, phone, manageUrl } : { method, phone, manageUrl }
  })
}
