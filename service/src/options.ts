import * as z from 'zod'
import { NOTICES } from './application.js'
import { displayName, noticesRule, originRule } from './applications/settings.js'
import { type Routes, readRoutes } from './carriers/delivery-option.js'
import { FaultsError } from './configuration-error.js'
import { type Limits, limitsSchema } from './limits.js'
import type { Logger } from './log/logger.js'
import { readEngine } from './transcription/engines/engine-option.js'
import { readHost } from './transcription/sources/allowed-hosts.js'

const text = (name: string, remedy: string) => z.string({ error: `${name} must be text: ${remedy}` })

const address = z.string({ error: 'must be an address like `inbox` or `smtp://…`' })
const delivery = z.union(
  [
    address.min(1),
    z.strictObject({
      email: address.optional(),
      sms: address.optional(),
      whatsapp: address.optional(),
      call: address.optional(),
      '*': address.optional(),
    }),
  ],
  {
    error:
      'delivery says how messages leave: `inbox`, `smtp://…?from=…`, `twilio://…`, `https://…`, or one of these for each channel',
  },
)

const schema = z.strictObject({
  /** Folder of the embedded database; `memory://` keeps nothing. Defaults to `memory://` when no database is named. */
  dataDir: text('dataDir', 'a folder, or memory://')
    .min(1, { error: 'dataDir must not be empty' })
    .optional(),
  /** A PostgreSQL 15+ database, `postgresql://user:password@host/name`; then `dataDir` is not used. */
  databaseUrl: text('databaseUrl', 'postgresql://user:password@host/name')
    .regex(/^postgres(ql)?:\/\//, { error: 'databaseUrl must begin with postgresql://' })
    .optional(),
  secret: text(
    'secret',
    '32 random bytes, for example from `openssl rand -base64 32` (is SERVICE_SECRET set?)',
  ).min(32, {
    error:
      'secret must have at least 32 characters: take 32 random bytes, for example `openssl rand -base64 32`',
  }),
  /** Former secrets, read with until `rotate-secrets` has moved what they protect. */
  previousSecrets: z
    .array(
      z.string({ error: 'previousSecrets must be a list of texts' }).min(32, {
        error:
          'previousSecrets must have at least 32 characters each: they are parted by commas, and a comma within one is written %2C',
      }),
    )
    .default([]),
  /** A key for the application `default`, besides those that are kept in the store. */
  apiKey: text('apiKey', '32 random bytes')
    .regex(/^[\x21-\x7e]{16,512}$/, {
      error: 'apiKey must have 16 to 512 visible ASCII characters: take 32 random bytes',
    })
    .optional(),
  /** How messages and authenticator apps call the application. Defaults to `Countersign`. */
  applicationName: displayName('applicationName').default('Countersign'),
  /** Host of the application's pages, `vault.example`: an SMS then ends with the line that lets browsers fill in the code. */
  origin: originRule.optional(),
  /** Language of messages when the person's is not known, a BCP 47 tag. Defaults to `en`. */
  locale: text('locale', 'a language tag like en').default('en'),
  /** How messages leave. */
  delivery,
  /**
   * What it writes to people besides codes: of `locked`, `app-bound`, `backup-made`, `backup-used`. An app that tells of
   * these itself leaves them out. Defaults to all.
   */
  notices: noticesRule.default([...NOTICES]),
  /** Key for the signature of webhook messages when their address has no `?secret=`. Defaults to one made of `secret`. */
  webhookSecret: text('webhookSecret', 'at least 16 characters')
    .min(16, { error: 'webhookSecret must have at least 16 characters' })
    .optional(),
  /**
   * Where the service is reached from outside, `https://mfa.example`: the addresses in its problems and its OpenAPI
   * document begin with it. Without it they are relative; no request's Host is ever believed (R16).
   */
  publicUrl: text('publicUrl', 'an address like https://mfa.example')
    .regex(/^https?:\/\/[^\s?#@\p{Cc}]+$/u, {
      error: 'publicUrl must be an http or https address without user, query or fragment',
      abort: true,
    })
    .refine((url) => URL.canParse(url), { error: 'publicUrl must be an address like https://mfa.example' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Opens `/metrics` to whoever sends it as a bearer token; without it only this machine is answered. */
  metricsKey: text('metricsKey', '32 random bytes')
    .regex(/^[\x21-\x7e]{16,512}$/, {
      error: 'metricsKey must have 16 to 512 visible ASCII characters: take 32 random bytes',
    })
    .optional(),
  /**
   * What transcribes: `auto` (pocketsphinx when it is installed), `off`, `pocketsphinx`, `command:whisper-cli -nt -f {file}`,
   * or the address of a server that speaks OpenAI's API. Defaults to `auto`.
   */
  transcriber: text('transcriber', 'auto, off, pocketsphinx, command:… or an address')
    .default('auto')
    .transform((value, context) => {
      const engine = readEngine(value)
      if (typeof engine !== 'string') return engine
      context.addIssue({ code: 'custom', message: engine })
      return z.NEVER
    }),
  /** Key of the transcription server. */
  transcriberKey: text('transcriberKey', 'the key of the transcription server')
    .regex(/^[\x21-\x7e]+$/, { error: 'transcriberKey must be one line of visible ASCII characters' })
    .optional(),
  /** Hosts, `media.internal` or `10.0.0.7:8080`, from which recordings are fetched by http and at private addresses too. */
  transcribeHosts: z
    .array(
      z.string().transform((value, context) => {
        const host = readHost(value)
        if (host) return host
        context.addIssue({
          code: 'custom',
          message: `transcribeHosts must list hosts like media.internal or 10.0.0.7:8080 (got ${value})`,
        })
        return z.NEVER
      }),
      { error: 'transcribeHosts must be a list of hosts' },
    )
    .default([]),
  limits: limitsSchema.prefault({}),
  /** Takes test keys though NODE_ENV is `production`; their codes can be read by whoever holds one. */
  allowTestKeysInProduction: z
    .boolean({ error: 'allowTestKeysInProduction must be true or false' })
    .default(false),
  /** Takes each event. Defaults to warnings and errors as JSON lines on standard error. */
  logger: z
    .custom<Logger>((value) => typeof value === 'function', { error: 'logger must be a function' })
    .optional(),
})

type Written = z.input<typeof schema>

/** What an application writes. A secret that comes from the environment may be missing there, which is told when it starts. */
export interface ServiceOptions extends Omit<Written, 'secret'> {
  /** All keys are made of it. Must stay the same for as long as the data lives, and must not lie beside it. */
  secret: Written['secret'] | undefined
}

/** What the service reads. */
export interface ServiceSettings extends Omit<z.output<typeof schema>, 'delivery' | 'limits'> {
  readonly limits: Limits
  readonly routes: Routes
}

/** The settings, complete. Throws a `FaultsError` that tells everything that is wrong, together. */
export function readOptions(options: ServiceOptions): ServiceSettings {
  const parsed = schema.safeParse(options)
  const faults = parsed.success ? [] : parsed.error.issues.map(tell)
  const written = delivery.safeParse((options as Partial<ServiceOptions> | null)?.delivery)
  const read = written.success ? readRoutes(written.data) : { routes: {}, faults: [] }
  faults.push(...read.faults)
  if (
    process.env.NODE_ENV === 'production' &&
    Object.values(read.routes).some((list) => list.some((route) => route.by === 'inbox'))
  ) {
    faults.push(
      'delivery by inbox shows every code to whoever looks: in production use smtp, twilio or a webhook.',
    )
  }
  if (!parsed.success || faults.length > 0) throw new FaultsError(faults)
  const { delivery: _written, ...settings } = parsed.data
  return { ...settings, routes: read.routes }
}

function tell(issue: z.core.$ZodIssue): string {
  const where = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    return `${issue.keys.map((key) => (where ? `${where}.${key}` : key)).join(', ')} is not an option; see the list in the README.`
  }
  return `${issue.message}.`
}
