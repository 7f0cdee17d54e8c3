import { isIP } from 'node:net'
import * as z from 'zod'

const NAMES = ['loopback', 'linklocal', 'uniquelocal']

/** The rule of an option that lists proxies. */
export const proxiesRule = (option: string) =>
  z.array(
    z.string().refine(isProxy, {
      error: `${option} must be addresses, networks such as 10.0.0.0/8, or loopback`,
    }),
    { error: `${option} must be a list of addresses` },
  )

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
     * Whether disabling a factor, removing a key and erasing a user need the approval of a second operator, and inviting, resetting
     * and promoting operators that of a second administrator. Defaults to `false`.
     */
    fourEyes: z.boolean({ error: 'console.fourEyes must be true or false' }).default(false),
  },
  { error: 'console must be an object, such as { trustedProxies: ["loopback"] }' },
)

/** The option `console`, complete. */
export type ConsoleSettings = z.output<typeof consoleRule>

/** What is wrong with the console in production: without a proxy that terminates TLS, no request reaches it. */
export function consoleFaults({ url, trustedProxies }: ConsoleSettings): string[] {
  const faults: string[] = []
  if (trustedProxies.length === 0) {
    faults.push(
      'console.trustedProxies is missing: in production the console needs a proxy that terminates TLS; set its address.',
    )
  }
  if (url?.startsWith('http:')) faults.push('console.url must begin with https:// in production.')
  return faults
}

function isProxy(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  if (NAMES.includes(text)) return true
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}
