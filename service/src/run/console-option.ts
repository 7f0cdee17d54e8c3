import { isIP } from 'node:net'
import * as z from 'zod'
import { listFaults } from '../process/configuration-error.js'

const NAMES = ['loopback', 'linklocal', 'uniquelocal']

/** The rule of an option that lists proxies. */
export const proxiesRule = (option: string) =>
  z.array(
    z.string().refine(isProxy, {
      error: `${option} must be addresses, networks such as 10.0.0.0/8, or loopback`,
    }),
    { error: `${option} must be a list of addresses` },
  )

/** The rule of an option that is the address of a server. */
export const addressRule = (option: string, example: string) =>
  z
    .string({ error: `${option} must be text: an address such as ${example}` })
    .regex(/^https?:\/\/[^\s?#@\p{Cc}]+$/u, {
      error: `${option} must be an http or https address without user, query or fragment`,
      abort: true,
    })
    .refine((url) => URL.canParse(url), { error: `${option} must be an address such as ${example}` })

const oidcText = (name: string) =>
  z
    .string({ error: `console.${name} must be text` })
    .regex(/^[^\p{Cc}]{1,512}$/u, { error: `console.${name} must have 1 to 512 characters in one line` })

const oidcTexts = (name: string) =>
  z.array(oidcText(name), { error: `console.${name} must be a list of texts` }).default([])

/** The rule of the option `console`. */
export const consoleRule = z.strictObject(
  {
    /** The public address of the service with the console, such as `https://mfa.example`: links of invitations begin with it, and keys of operators belong to it. Without it, the console makes no links and accepts no keys. Defaults to none. */
    url: z
      .string({ error: 'console.url must be text: an address such as https://mfa.example' })
      .regex(/^https?:\/\/[^\s/?#@\p{Cc}]+\/?$/u, {
        error: 'console.url must be an http or https address without user, path, query or fragment',
      })
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    /**
     * The proxies in front of the console, which terminate TLS: addresses, networks such as `10.0.0.0/8`, or `loopback`,
     * `linklocal` and `uniquelocal`. Their `X-Forwarded-` headers are trusted. Required in production. Defaults to none.
     */
    trustedProxies: proxiesRule('console.trustedProxies').default([]),
    /**
     * Whether disabling a factor, removing a key and erasing a user need the consent of a second operator, and inviting, resetting
     * and promoting operators that of a second administrator. Defaults to `false`.
     */
    fourEyes: z.boolean({ error: 'console.fourEyes must be true or false' }).default(false),
    /** The issuer of your company's identity provider (OpenID Connect), such as `https://id.example.com`: operators can then sign in there. Defaults to none. */
    oidcIssuer: addressRule('console.oidcIssuer', 'https://id.example.com').optional(),
    /** The client id of the console at the identity provider. Required with `oidcIssuer`. */
    oidcClientId: oidcText('oidcClientId').optional(),
    /** The client secret. Required with `oidcIssuer`. */
    oidcClientSecret: oidcText('oidcClientSecret').optional(),
    /** The scopes that the console asks the identity provider for, separated by spaces. Defaults to `openid email`. */
    oidcScope: oidcText('oidcScope').default('openid email'),
    /** The claim of the ID token that lists a person's groups. Defaults to `groups`. */
    oidcGroupsClaim: oidcText('oidcGroupsClaim').default('groups'),
    /** The groups whose members are administrators. Defaults to none. */
    oidcAdmins: oidcTexts('oidcAdmins'),
    /** The groups whose members have the role `support`. Defaults to none. */
    oidcSupport: oidcTexts('oidcSupport'),
    /** The groups whose members have the role `viewer`. Defaults to none. */
    oidcViewers: oidcTexts('oidcViewers'),
    /** The values of `amr` with which the identity provider says that it asked for a second factor, such as `mfa`. Defaults to none. */
    oidcAmr: oidcTexts('oidcAmr'),
    /** The values of `acr` that say so; the console asks for them. Defaults to none. */
    oidcAcr: oidcTexts('oidcAcr'),
  },
  { error: 'console must be an object, such as { trustedProxies: ["loopback"] }' },
)

/** The option `console`, complete. */
export type ConsoleSettings = z.output<typeof consoleRule>

/** The company's identity provider, complete; `undefined` without one. */
export function oidcSettings(console: ConsoleSettings) {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = console
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined
  const { oidcScope: scope, oidcGroupsClaim: groupsClaim, oidcAmr: amr, oidcAcr: acr } = console
  const groups = { admin: console.oidcAdmins, support: console.oidcSupport, viewer: console.oidcViewers }
  return { issuer, clientId, clientSecret, scope, groupsClaim, groups, amr, acr }
}

/** The members missing for the sign-in at an identity provider. Without a value that counts as a second factor, nobody could sign in. */
export function oidcFaults(console: ConsoleSettings): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret } = console
  if (oidcIssuer === undefined) {
    const isGiven = oidcClientId !== undefined || oidcClientSecret !== undefined
    return isGiven ? ['console.oidcIssuer is missing: set it to the address of your identity provider.'] : []
  }
  const hasRoles = [...console.oidcAdmins, ...console.oidcSupport, ...console.oidcViewers].length > 0
  const hasSecondFactor = [...console.oidcAmr, ...console.oidcAcr].length > 0
  return listFaults(
    console.url === undefined && 'console.url is missing: the identity provider leads back to it.',
    oidcClientId === undefined && 'console.oidcClientId is missing: your identity provider gives one.',
    oidcClientSecret === undefined &&
      'console.oidcClientSecret is missing: your identity provider gives one.',
    !console.oidcScope.split(' ').includes('openid') && 'console.oidcScope must contain openid.',
    !hasRoles &&
      'console.oidcAdmins is missing: name the groups that have a role, there or in oidcSupport or oidcViewers.',
    !hasSecondFactor &&
      'console.oidcAmr is missing: say how your identity provider names a second factor, such as mfa, there or in oidcAcr.',
  )
}

/** The fault of the console in production: without a proxy that terminates TLS, no request reaches it. */
export function consoleFaults({ url, trustedProxies, oidcIssuer }: ConsoleSettings): string[] {
  return listFaults(
    trustedProxies.length === 0 &&
      'console.trustedProxies is missing: in production the console needs a proxy that terminates TLS; set its address.',
    url?.startsWith('http:') && 'console.url must begin with https:// in production.',
    oidcIssuer?.startsWith('http:') && 'console.oidcIssuer must begin with https:// in production.',
  )
}

function isProxy(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  if (NAMES.includes(text)) return true
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
