import * as z from 'zod'
import {
  convertToMilliseconds,
  createOptionsSchema,
  duration,
  type Given,
  setType,
  wholeNumber,
} from '../option-rules.js'
import { dialectOption } from './dialect.js'

/** How long a call to the service may take, in milliseconds, unless `timeout` says otherwise. */
export const SERVICE_TIMEOUT_MS = 5_000

const aUrl = 'must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)'
const baseUrl = z.url({ protocol: /^https?$/, error: aUrl }).superRefine((text, context) => {
  if (!URL.canParse(text)) return
  const url = new URL(text)
  const addFault = (message: string) => context.addIssue({ code: 'custom', message })
  if (url.username || url.password)
    addFault('must not contain a user name or password; the key belongs in apiKey')
  if (/[?#]/.test(text)) addFault('must end with its path: remove everything from ? or # on')
})

/** The rules of the option `service.breaker`. */
export class BreakerRules {
  /** How many failures in a row begin the pause, 2 to 100. Defaults to 5. */
  readonly failures = wholeNumber(2, 100, 'failures').default(5)
}

/** A pause of a second after several failures of the service in a row. One call then finds out whether it is back. */
export interface BreakerOptions extends Given<BreakerRules> {}

/** The rules of the option `service` for an address. */
export class AddressRules {
  /**
   * Where the API is, like `https://mfa.example.com`; the paths of the API are appended. Plain `http` is accepted on
   * this machine only, unless `allowInsecureServiceUrl` is set. Required.
   */
  readonly baseUrl = setType<string | undefined>()(baseUrl)
  /** The API key, sent as `Authorization: Bearer …` to that address alone. Required. */
  readonly apiKey = setType<string | undefined>()(
    z
      .string({ error: 'must be the API key of the MFA service (is MFA_API_KEY set?)' })
      .regex(/^[\x21-\x7e]+$/, {
        error:
          'must be one line of ASCII without spaces: is MFA_API_KEY set, and was a line break copied with it?',
      }),
  )
  /**
   * Which API the service speaks: `published`, `countersign` for the self-hosted service, the parts in which it differs
   * from the published API, or `detect`: the service must say before the first call that it is the Countersign service.
   * Defaults to `detect`. See docs/dialect.md.
   */
  readonly dialect = dialectOption
  /** How long one call may take in all, 100 milliseconds to `10s`. Defaults to `5s`. */
  readonly timeout = duration(100, '10s', '5s').prefault(SERVICE_TIMEOUT_MS)
  /** When to stop calling a service that fails. `false` calls it every time. Defaults to `{ failures: 5 }`. See docs/outage.md. */
  readonly breaker = z
    .union([z.literal(false), setType<BreakerOptions>()(createOptionsSchema(new BreakerRules()))], {
      error: 'must be false, or an object like { failures: 5 }',
    })
    .prefault({})
  /**
   * Allows plain http to another machine. The API key and every code can then be read on the way. Defaults to `false`.
   */
  readonly allowInsecureServiceUrl = z.boolean({ error: 'must be true or false' }).default(false)
}

/** An MFA service that is reached over HTTP. */
export interface ServiceAddress extends Given<AddressRules> {}

/** The option `service` for an address. */
export const serviceAddress = convertToMilliseconds(
  z
    .strictObject({ ...new AddressRules() })
    .refine((address) => !unsafe(address.baseUrl) || address.allowInsecureServiceUrl === true, {
      path: ['baseUrl'],
      // Also when another member has a fault: all faults are reported together.
      when: () => true,
      error: ({ input }) =>
        `must be https (got http://${unsafe(Object(input).baseUrl)?.host}). If you own and trust that network, set allowInsecureServiceUrl: true`,
    }),
).transform(({ apiKey, baseUrl, ...rest }) => ({
  ...rest,
  baseUrl: baseUrl.replace(/\/+$/, ''),
  // A function, so that no log, `inspect` or JSON of these settings can show it (R78).
  apiKey: () => apiKey,
}))

/** A validated address of a service. */
export type ServiceSettings = Readonly<z.output<typeof serviceAddress>>

/** The address, if its connection can be intercepted on the way (R73). A malformed address has its own fault. */
function unsafe(address: unknown): URL | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'http:' && !isLoopback(url.hostname) ? url : undefined
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
