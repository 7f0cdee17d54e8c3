import * as z from 'zod'
import { duration, inMilliseconds, wholeNumber } from '../option-rules.js'
import { MAX_SHARDS, shardName } from '../protocol/wire.js'
import type { Duration } from '../time.js'
import { COUNTERSIGN, type DialectInput, dialectOption } from './dialect.js'

/** An MFA service that is reached over HTTP. */
export interface ServiceAddress {
  /**
   * Where the API is, like `https://mfa.example.com`; the paths of the API are appended. Plain `http` is accepted on
   * this machine only, unless `allowInsecureServiceUrl` is set. Several shards of the self-hosted service have a list of addresses,
   * in the order of their numbers. See docs/options.md#shards. Required.
   */
  baseUrl: string | readonly string[] | undefined
  /**
   * The API key, sent as `Authorization: Bearer …` to that address alone. Shards with different keys have a list of them, in the same
   * order. Required.
   */
  apiKey: string | readonly string[] | undefined
  /**
   * Which API the service speaks: `published`, `countersign` for the self-hosted service, the parts in which it differs
   * from the published API, or `detect`: the service must say before the first call that it is the Countersign service.
   * Defaults to `detect`. Another service is never guessed from an answer, so name its API. See docs/dialect.md.
   */
  dialect?: 'detect' | 'published' | 'countersign' | DialectInput | undefined
  /** How long one call may take in all, 100 milliseconds to `10s`. Defaults to `5s`. */
  timeout?: Duration | undefined
  /** How long one transcription may take in all, `1s` to `6h`, and the upload of the recording of a job. Defaults to `60s`. */
  transcribeTimeout?: Duration | undefined
  /** How many connections to the service may be open at once, 1 to 1,024. Defaults to 64. */
  maxConnections?: number | undefined
  /** When to stop calling a service that fails. `false` calls it every time. Defaults to `{ failures: 5, pause: '10s' }`. See docs/outage.md. */
  breaker?: false | BreakerOptions | undefined
  /**
   * Allows plain http to another machine. The API key and every code can then be read on the way. Defaults to `false`.
   */
  allowInsecureServiceUrl?: boolean | undefined
}

/** A pause after several failures of the service in a row. One call then finds out whether it is back. */
export interface BreakerOptions {
  /** How many failures in a row begin the pause, 2 to 100. Defaults to 5. */
  failures?: number | undefined
  /** How long the pause lasts, `1s` to `5m`. Defaults to `10s`. */
  pause?: Duration | undefined
}

/** How long a call to the service may take, in milliseconds, unless `timeout` says otherwise. */
export const SERVICE_TIMEOUT_MS = 5_000

/** How long a transcription may take, in milliseconds, unless `transcribeTimeout` says otherwise. */
export const TRANSCRIBE_TIMEOUT_MS = 60_000

const aUrl = 'must be the address of the MFA service, like https://mfa.example.com (is MFA_BASE_URL set?)'
const baseUrl = z.url({ protocol: /^https?$/, error: aUrl }).superRefine((text, context) => {
  if (!URL.canParse(text)) return
  const url = new URL(text)
  const fault = (message: string) => context.addIssue({ code: 'custom', message })
  if (url.username || url.password)
    fault('must not contain a user name or password; the key belongs in apiKey')
  if (/[?#]/.test(text)) fault('must end with its path: remove everything from ? or # on')
})
const apiKey = z
  .string({ error: 'must be the API key of the MFA service (is MFA_API_KEY set?)' })
  .min(16, { error: 'must have at least 16 characters; give the whole API key' })
  .regex(/^[\x21-\x7e]+$/, {
    error: 'must be one line of ASCII without spaces; was a line break copied with it?',
  })

/** A value, or a list with one for each shard. It is read as a list. */
function oneOrEach(rule: z.ZodType<string>) {
  return z.unknown().transform((given, context): readonly string[] => {
    const isList = Array.isArray(given)
    const values: readonly unknown[] = isList ? given : [given]
    if (isList && (values.length === 0 || values.length > MAX_SHARDS)) {
      context.addIssue({ code: 'custom', message: `must have 1 to ${MAX_SHARDS} values, one for each shard` })
    }
    return values.flatMap((value, index) => {
      const read = rule.safeParse(value)
      if (read.success) return read.data
      const path = isList ? [index] : []
      for (const { message } of read.error.issues) context.addIssue({ code: 'custom', message, path })
      // Other rules look at it, too.
      return typeof value === 'string' ? value : []
    })
  })
}

/** The rules of the option `service` for an address. */
export const serviceAddress = inMilliseconds(
  z
    .strictObject({
      baseUrl: oneOrEach(baseUrl),
      apiKey: oneOrEach(apiKey),
      dialect: dialectOption,
      timeout: duration(100, '10s', '5s').prefault(SERVICE_TIMEOUT_MS),
      transcribeTimeout: duration('1s', '6h', '60s').prefault(TRANSCRIBE_TIMEOUT_MS),
      maxConnections: wholeNumber(1, 1_024, 'connections').default(64),
      breaker: z
        .union(
          [
            z.literal(false),
            inMilliseconds(
              z.strictObject({
                failures: wholeNumber(2, 100, 'failures').default(5),
                pause: duration('1s', '5m', '10s').prefault('10s'),
              }),
            ),
          ],
          { error: 'must be false, or an object like { failures: 5, pause: "10s" }' },
        )
        .prefault({}),
      allowInsecureServiceUrl: z.boolean({ error: 'must be true or false' }).default(false),
    })
    .refine((address) => !unsafeIn(address.baseUrl) || address.allowInsecureServiceUrl === true, {
      path: ['baseUrl'],
      // Also when another member has a fault: all faults are reported together.
      when: () => true,
      error: ({ input }) =>
        `must be https (got http://${unsafeIn(Object(input).baseUrl)?.host}). If you own and trust that network, set allowInsecureServiceUrl: true`,
    })
    .refine(({ baseUrl }) => new Set(baseUrl).size === baseUrl.length, {
      path: ['baseUrl'],
      error: 'must not contain an address twice: each shard has its own',
    })
    .refine(({ baseUrl, apiKey }) => apiKey.length === 1 || apiKey.length === baseUrl.length, {
      path: ['apiKey'],
      error: ({ input }) =>
        `must be one key for all shards, or a list of ${Object(input).baseUrl.length}, one for each address in baseUrl`,
    })
    .refine(
      ({ baseUrl, dialect }) => baseUrl.length === 1 || dialect === 'detect' || dialect === COUNTERSIGN,
      {
        path: ['dialect'],
        error: 'must be left out with several addresses: only the Countersign service has shards',
      },
    ),
).transform(({ apiKey: keys, baseUrl: addresses, ...rest }) => {
  const [first, ...others] = addresses.map((address, index) => {
    const key = keys[index] ?? (keys[0] as string)
    return {
      ...rest,
      baseUrl: address.replace(/\/+$/, ''),
      // A function, so that no log, `inspect` or JSON of these settings can show it (R78).
      apiKey: () => key,
      /** Which shard the service at this address must be, such as `1/2`; `undefined` if there is only one service. */
      shard: addresses.length > 1 ? shardName({ number: index + 1, count: addresses.length }) : undefined,
    }
  })
  if (!first) throw new Error('The rule of baseUrl lets an empty list through.')
  const shards: readonly [typeof first, ...typeof others] = [first, ...others]
  return { ...first, shards }
})

/** The validated option `service` of a service over HTTP: the settings of its only or first shard, and those of every shard. */
export type ServiceOption = Readonly<z.output<typeof serviceAddress>>

/** A validated address of a service. */
export type ServiceSettings = Omit<ServiceOption, 'shards'>

/** The first address whose connection can be intercepted on the way (R73). A malformed address has its own fault. */
function unsafeIn(addresses: unknown): URL | undefined {
  return [addresses].flat().flatMap((address) => {
    if (typeof address !== 'string' || !URL.canParse(address)) return []
    const url = new URL(address)
    return url.protocol === 'http:' && !isLoopback(url.hostname) ? [url] : []
  })[0]
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
