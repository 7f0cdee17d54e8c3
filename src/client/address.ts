import * as z from 'zod'
import { wholeNumber } from '../option-rules.js'
import { dialectOption } from './dialect.js'

const aUrl = 'must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)'
const baseUrl = z.url({ protocol: /^https?$/, error: aUrl }).superRefine((text, context) => {
  if (!URL.canParse(text)) return
  const url = new URL(text)
  const fault = (message: string) => context.addIssue({ code: 'custom', message })
  if (url.username || url.password) fault('must not hold a user name or password; the key belongs in apiKey')
  if (/[?#]/.test(text)) fault('must end with its path: remove what follows ? or #')
})

/** The option `service` when it is an address: how the service is reached, and how it speaks. */
export const serviceAddress = z
  .strictObject({
    baseUrl,
    apiKey: z
      .string({ error: 'must be the API key of the MFA service (is MFA_API_KEY set?)' })
      .min(16, { error: 'must have at least 16 characters; give the whole API key' })
      .regex(/^[\x21-\x7e]+$/, {
        error: 'must be one line of ASCII without spaces; was a line break copied with it?',
      }),
    dialect: dialectOption,
    timeoutMs: wholeNumber(100, 10_000, 'milliseconds').default(5_000),
    transcribeTimeoutMs: wholeNumber(1_000, 600_000, 'milliseconds').default(60_000),
    maxConnections: wholeNumber(1, 1_024, 'connections').default(64),
    breaker: z
      .union(
        [
          z.literal(false),
          z.strictObject({
            failures: wholeNumber(2, 100, 'failures').default(5),
            pauseMs: wholeNumber(1_000, 300_000, 'milliseconds').default(10_000),
          }),
        ],
        { error: 'must be false, or an object like { failures: 5, pauseMs: 10000 }' },
      )
      .prefault({}),
    allowInsecureServiceUrl: z.boolean({ error: 'must be true or false' }).default(false),
  })
  .refine((address) => isSafe(address.baseUrl) || address.allowInsecureServiceUrl === true, {
    path: ['baseUrl'],
    // Also when another part is faulty: all faults are told together.
    when: () => true,
    error: ({ input }) =>
      `must be https (got http://${hostOf(input)}). If that network is yours and trusted, set allowInsecureServiceUrl: true`,
  })
  .transform(({ apiKey, baseUrl, ...rest }) => ({
    ...rest,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // A function, so that no log, `inspect` or JSON of what holds these settings can show it (R78).
    apiKey: () => apiKey,
  }))

/** A checked address of a service. */
export type ServiceSettings = Readonly<z.output<typeof serviceAddress>>

/** Whether nobody can listen on the way (R73); an address that is none has its own fault. */
function isSafe(address: unknown): boolean {
  if (typeof address !== 'string' || !URL.canParse(address)) return true
  const { protocol, hostname } = new URL(address)
  return protocol !== 'http:' || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function hostOf(input: unknown): string {
  const address: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'baseUrl') : ''
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).host : ''
}
