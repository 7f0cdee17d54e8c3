import { SCOPES } from 'countersign/protocol'
import * as z from 'zod'
import { NOTICES } from '../accounts/application.js'
import {
  findPolicyFaults,
  keyPolicyOption,
  relyingPartyOption,
  unfitOrigins,
} from '../accounts/applications/key-settings.js'
import { displayName } from '../accounts/applications/setting-text.js'
import { noticesRule, originRule, UNNAMED } from '../accounts/applications/settings.js'
import { completeLimits, type Limits, limitRules, processRules } from '../accounts/limits.js'
import { parseDelivery } from '../messages/carriers/delivery-option.js'
import { phoneCheckRule } from '../messages/carriers/phone-check.js'
import { type Routes, usesInbox } from '../messages/carriers/route.js'
import { isCountry } from '../messages/contacts/phone.js'
import { sendgridKey } from '../messages/receipts/sendgrid.js'
import { findSnsHost } from '../messages/receipts/ses.js'
import { isSupportedLanguage, SUPPORTED_LANGUAGES } from '../messages/texts/catalogue.js'
import { ConfigurationError, listFaults } from '../process/configuration-error.js'
import { isProduction, productionFaults } from '../process/production.js'
import { parseHost } from '../safe-fetch/public-agent.js'
import type { PostgresLimits } from '../store/store.js'
import type { Logger } from '../telemetry/log/logger.js'
import {
  LIVE_TRANSCRIBER_FORMS,
  parseEngine,
  parseLiveEngine,
  TRANSCRIBER_FORMS,
} from '../transcription/engine-options.js'
import type { Transcriber } from '../transcription/engines/transcriber.js'
import type { LiveTranscriber } from '../transcription/live/live-transcription.js'
import { addressRule, consoleFaults, consoleRule, oidcFaults, proxiesRule } from './console-option.js'

const createTextRule = (name: string, remedy: string) =>
  z.string({ error: `${name} must be text: ${remedy}` })

const address = z.string({ error: 'must be an address such as `inbox` or `smtp://…`' })
const delivery = z.union(
  [
    address.min(1),
    z.strictObject({
      /** Address for email: `smtp://`, `smtps://`, a webhook or `inbox`. Defaults to the address for `'*'`. */
      email: address.optional(),
      /** Address for SMS: `twilio://`, a webhook or `inbox`. Defaults to the address for `'*'`. */
      sms: address.optional(),
      /** Address for WhatsApp: `twilio://` with a template, a webhook or `inbox`. Defaults to the address for `'*'`. */
      whatsapp: address.optional(),
      /** Address for calls: `twilio://` with a phone number, a webhook or `inbox`. Defaults to the address for `'*'`. */
      call: address.optional(),
      /** Address for all channels that are not listed. Without it they are off. */
      '*': address.optional(),
    }),
  ],
  {
    error:
      'delivery must be an address (`inbox`, `smtp://…?from=…`, `twilio://…`, `https://…`), or an object with one for each channel',
  },
)

/** A key that clients send as a bearer token. */
const bearerKey = (name: string) =>
  createTextRule(name, '32 random bytes').regex(/^[\x21-\x7e]{16,512}$/, {
    error: `${name} must have 16 to 512 visible ASCII characters: use 32 random bytes`,
  })

/** The key of a server, which is sent to it in a header. */
const serverKey = (name: string, remedy: string) =>
  createTextRule(name, remedy).regex(/^[\x21-\x7e]+$/, {
    error: `${name} must be one line of visible ASCII characters`,
  })

/** The transformation of an option that `parse` reads: a text in its result is what is wrong with it. */
const reading =
  <Given, Read>(parse: (given: Given) => Read | string) =>
  (given: Given, context: z.RefinementCtx): Read => {
    const read = parse(given)
    if (typeof read !== 'string') return read
    context.addIssue({ code: 'custom', message: read })
    return z.NEVER
  }

/** Whether an option is text, or an object with this method. */
const isTextOrHas = (method: string) => (value: unknown) =>
  typeof value === 'string' || typeof Reflect.get(Object(value), method) === 'function'

/** The rule of each option. */
export const optionsSchema = z.strictObject({
  /** Folder of the embedded database; `memory://` keeps all data in memory. Defaults to `memory://`. */
  dataDir: createTextRule('dataDir', 'a folder, or memory://')
    .min(1, { error: 'dataDir must not be empty' })
    .optional(),
  /** A PostgreSQL 15+ database, `postgresql://user:password@host/name`; `dataDir` is then ignored. Defaults to none. */
  databaseUrl: createTextRule('databaseUrl', 'postgresql://user:password@host/name')
    .regex(/^postgres(ql)?:\/\//, { error: 'databaseUrl must begin with postgresql://' })
    .optional(),
  /** The secret from which all keys are derived, at least 32 characters. In production, a repetitive one is refused. Required. */
  secret: createTextRule(
    'secret',
    '32 random bytes, for example from `openssl rand -base64 32` (is SERVICE_SECRET set?)',
  ).min(32, {
    error:
      'secret must have at least 32 characters: use 32 random bytes, for example from `openssl rand -base64 32`',
  }),
  /** Former secrets, which still decrypt data until `rotate-secrets` has moved it to the new one. Defaults to none. */
  previousSecrets: z
    .array(
      z.string({ error: 'previousSecrets must be a list of texts' }).min(32, {
        error:
          'previousSecrets must have at least 32 characters each: separate them by commas, and write a comma in a secret as %2C',
      }),
    )
    .default([]),
  /** An API key of the application `default`, in addition to those in the store: 16 to 512 visible ASCII characters. Defaults to none. */
  apiKey: bearerKey('apiKey').optional(),
  /** The permissions of `apiKey`. Defaults to all. */
  apiKeyScopes: z
    .array(z.enum(SCOPES, { error: `apiKeyScopes must be of ${SCOPES.join(', ')}` }), {
      error: `apiKeyScopes must be a list of ${SCOPES.join(', ')}`,
    })
    .nonempty({ error: 'apiKeyScopes must have at least one scope' })
    .default([...SCOPES]),
  /** The application's name in messages and authenticator apps, 1 to 40 characters. Defaults to `Countersign`. */
  applicationName: displayName('applicationName').default(UNNAMED),
  /** Host of the application's pages, such as `vault.example`: an SMS or an email then ends with the line from which programs fill in the code. Defaults to none. */
  origin: originRule.optional(),
  /**
   * The ISO code of your users' country, such as `GB`. Phone numbers of other countries are refused, except by applications
   * with the setting `countries` and those that were created before. Without it, the application `default` serves the phone
   * numbers of every country, which SMS pumping abuses.
   */
  homeCountry: createTextRule('homeCountry', 'an ISO code of two capital letters, such as GB')
    .refine(isCountry, { error: 'homeCountry must be an ISO code of two capital letters, such as GB' })
    .optional(),
  /** Language of messages when the user's language is unknown, as a BCP 47 tag. Defaults to `en`. */
  locale: createTextRule('locale', 'a language tag such as en')
    .refine(isSupportedLanguage, {
      error: `locale must be a tag of one of the languages ${SUPPORTED_LANGUAGES.join(', ')}`,
    })
    .default('en'),
  /** How messages are delivered: one address for all channels, or an object with one for each. Required. */
  delivery,
  /**
   * The key that a request shows to read the inbox of development, at `/mfa/inbox` of your app: 16 to 512 visible ASCII characters. Defaults
   * to a random one that is kept in the file `inbox-key` of `dataDir`, and in memory to a new one at each start.
   */
  inboxKey: bearerKey('inboxKey').optional(),
  /** The account notices that the service sends. Omit those that your app sends itself. Defaults to all. */
  notices: noticesRule.default([...NOTICES]),
  /** Secret that signs webhook requests to addresses without `?secret=`, at least 16 characters. Defaults to one derived from `secret`. */
  webhookSecret: createTextRule('webhookSecret', 'at least 16 characters')
    .min(16, { error: 'webhookSecret must have at least 16 characters' })
    .optional(),
  /**
   * A phone check of your own, which is asked before a code goes to a phone and may refuse the number, for example after a change of
   * its SIM card. Defaults to none.
   */
  phoneCheck: phoneCheckRule.optional(),
  /**
   * The service's public address, such as `https://mfa.example`, with which the addresses in its problems and its OpenAPI
   * document begin. The `Host` header is never used (R16). Defaults to relative addresses.
   */
  publicUrl: addressRule('publicUrl', 'https://mfa.example')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /**
   * The proxies in front of the API: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal` and `uniquelocal`. Their
   * `X-Forwarded-For` says from where an API key is used. Defaults to none.
   */
  trustedProxies: proxiesRule('trustedProxies').default([]),
  /**
   * ARN of the Amazon SNS topic that receives the notifications of Amazon SES, `arn:aws:sns:…`: bounces, complaints and
   * deliveries of mails then change their delivery state. Defaults to none.
   */
  sesTopic: createTextRule('sesTopic', 'the ARN of a topic, arn:aws:sns:<region>:<account>:<name>')
    .refine((arn) => findSnsHost(arn) !== undefined, {
      error: 'sesTopic must be the ARN of a topic, arn:aws:sns:<region>:<account>:<name>',
    })
    .optional(),
  /** Verification key of SendGrid's signed event webhook, as SendGrid shows it. Defaults to none. */
  sendgridVerificationKey: createTextRule('sendgridVerificationKey', 'the key that SendGrid shows')
    .transform(
      reading(
        (value) =>
          sendgridKey(value) ??
          'sendgridVerificationKey must be the public key that SendGrid shows, in base64',
      ),
    )
    .optional(),
  /** Bearer token that `/metrics` requires: 16 to 512 visible ASCII characters. Without it, `/metrics` answers requests from this machine at most. */
  metricsKey: bearerKey('metricsKey').optional(),
  /**
   * Whether `/metrics` answers requests from this machine without a key, unless a proxy forwarded them. Defaults to `true`
   * outside production, else to `false`.
   */
  metricsWithoutKey: z.boolean({ error: 'metricsWithoutKey must be true or false' }).optional(),
  /**
   * The transcription engine: `auto` (pocketsphinx if it is installed), `off`, `pocketsphinx`, `command:whisper-cli -nt -f {file}`,
   * the address of a server with OpenAI's API, or, in a program, an engine of your own. Defaults to `auto`.
   */
  transcriber: z
    .custom<string | Transcriber>(isTextOrHas('transcribe'), {
      error: `transcriber must be ${TRANSCRIBER_FORMS}`,
    })
    .default('auto')
    .transform(reading(parseEngine)),
  /**
   * The languages that the engine has, as BCP 47 tags such as `en` and `pt`: recordings in others are refused. Defaults to English
   * for pocketsphinx, else to those that the engine names itself, or to all.
   */
  transcriberLanguages: z
    .array(
      z.string().regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/, {
        error: 'transcriberLanguages must be a list of language tags such as en and pt-BR',
      }),
      { error: 'transcriberLanguages must be a list of language tags such as en and pt-BR' },
    )
    .min(1, { error: 'transcriberLanguages must have at least one language' })
    .optional(),
  /** API key of the transcription server. Defaults to none. */
  transcriberKey: serverKey('transcriberKey', 'the key of the transcription server').optional(),
  /**
   * The engine of realtime transcription: `auto` (pocketsphinx if `python3-pocketsphinx` is installed), `off`, `pocketsphinx`,
   * `openai+wss://…` for a server with OpenAI's realtime API, or, in a program, an engine of your own. Defaults to `auto`.
   */
  liveTranscriber: z
    .custom<string | LiveTranscriber>(isTextOrHas('open'), {
      error: `liveTranscriber must be ${LIVE_TRANSCRIBER_FORMS}`,
    })
    .default('auto')
    .transform(reading(parseLiveEngine)),
  /** API key of the server for realtime transcription. Defaults to none. */
  liveTranscriberKey: serverKey('liveTranscriberKey', 'the key of the server').optional(),
  /** Hosts, such as `media.internal` or `10.0.0.7:8080`, from which recordings may be fetched by http and at private addresses. Defaults to none. */
  transcribeHosts: z
    .array(
      z
        .string()
        .transform(
          reading(
            (value) =>
              parseHost(value) ??
              `transcribeHosts must be a list of hosts such as media.internal or 10.0.0.7:8080 (got ${value})`,
          ),
        ),
      { error: 'transcribeHosts must be a list of hosts' },
    )
    .default([]),
  /**
   * The relying party of security keys and passkeys: the domain that keys belong to, and the origins of your pages. Without it,
   * keys are not offered.
   */
  relyingParty: relyingPartyOption.optional(),
  /** Which keys are accepted; each member has its own default. */
  keyPolicy: keyPolicyOption.prefault({}),
  ...processRules,
  /** Attempts, lifetimes and message budgets; each limit has its own default. */
  limits: z.strictObject(limitRules).prefault({}),
  /** Accepts test keys even if NODE_ENV is `production`; every holder of a test key can read its codes. Defaults to `false`. */
  allowTestKeysInProduction: z
    .boolean({ error: 'allowTestKeysInProduction must be true or false' })
    .default(false),
  /** Pages for operators at `/console`, which `service.console` then has. Defaults to none. */
  console: consoleRule.optional(),
  /** Receives each event of the log. Defaults to warnings and errors as JSON lines on standard error. */
  logger: z
    .custom<Logger>((value) => typeof value === 'function', { error: 'logger must be a function' })
    .optional(),
})

type SchemaInput = z.input<typeof optionsSchema>

/** The options of `createService`. */
export interface ServiceOptions extends Omit<SchemaInput, 'secret'> {
  /**
   * The secret from which all keys are derived, at least 32 characters. It must stay the same as long as the data is
   * kept, and must not be stored next to it. Required; the type allows `undefined` so that an environment variable can
   * be passed directly, and `createService` then throws a `ConfigurationError`.
   */
  secret: SchemaInput['secret'] | undefined
}

/** Validated, complete options. */
export interface ServiceSettings
  extends Omit<
    z.output<typeof optionsSchema>,
    | 'delivery'
    | 'limits'
    | 'metricsWithoutKey'
    | `database${'PoolSize' | 'ConnectTimeout' | 'StatementTimeout'}`
  > {
  /** Whether `/metrics` answers requests from this machine without a key. */
  readonly metricsWithoutKey: boolean
  /** Complete limits. */
  readonly limits: Limits
  /** The carriers of each channel. */
  readonly routes: Routes
  /** How PostgreSQL is used. */
  readonly postgres: PostgresLimits
}

/** Validates options. Throws a `ConfigurationError` that lists everything that is wrong with them. */
export function readOptions(options: ServiceOptions): ServiceSettings {
  const parsed = optionsSchema.safeParse(options)
  const faults = [...productionFaults(), ...(parsed.success ? [] : parsed.error.issues.map(describeIssue))]
  const given = delivery.safeParse((options as Partial<ServiceOptions> | null)?.delivery)
  const { routes, faults: deliveryFaults } = given.success
    ? parseDelivery(given.data)
    : { routes: {}, faults: [] }
  faults.push(...deliveryFaults)
  const { secret, phoneCheck, webhookSecret, console, keyPolicy } = parsed.data ?? {}
  const { jobRecordingMegabytes = 0, jobStorageMegabytes = 0 } = parsed.data ?? {}
  const inProduction = isProduction()
  faults.push(
    ...listFaults(
      inProduction &&
        usesInbox(routes) &&
        'delivery by inbox makes every code readable with an API key: in production use smtp, twilio or a webhook.',
      inProduction &&
        secret !== undefined &&
        isRepetitive(secret) &&
        'secret repeats a few characters, so it can be guessed: use 32 random bytes, for example from `openssl rand -base64 32`.',
    ),
    ...(inProduction && console ? consoleFaults(console) : []),
    ...(console ? oidcFaults(console) : []),
    ...listFaults(
      phoneCheck &&
        phoneCheck.secret === undefined &&
        webhookSecret === undefined &&
        'phoneCheck.secret is missing: set it, or webhookSecret, so that the phone check can verify who asks.',
      jobStorageMegabytes < jobRecordingMegabytes &&
        `jobStorageMegabytes must be at least jobRecordingMegabytes (got ${jobStorageMegabytes} and ${jobRecordingMegabytes}).`,
    ),
    ...relyingPartyFaults(parsed.data?.relyingParty),
  )
  if (keyPolicy) faults.push(...findPolicyFaults(keyPolicy))
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults)
  const {
    delivery: _delivery,
    limits,
    databasePoolSize: poolSize,
    databaseConnectTimeout: connectTimeoutMs,
    databaseStatementTimeout: statementTimeoutMs,
    metricsWithoutKey = !isProduction(),
    ...settings
  } = parsed.data
  const postgres = { poolSize, connectTimeoutMs, statementTimeoutMs }
  return { ...settings, metricsWithoutKey, limits: completeLimits(limits), routes, postgres }
}

/** Whether a secret has fewer than 16 different pairs of neighboring characters; 32 random digits have more. */
function isRepetitive(secret: string): boolean {
  return new Set([...secret].map((character, i) => character + secret.charAt(i + 1))).size < 16
}

function relyingPartyFaults(given: z.output<typeof relyingPartyOption> | undefined): string[] {
  if (!given?.origins) return []
  const { id, origins } = given
  return unfitOrigins({ id, origins }).map(
    (origin) => `relyingParty.origins must be origins of ${id} or of a host below it (got ${origin}).`,
  )
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${issue.message}.`
  const prefix = issue.path.map((part) => `${String(part)}.`).join('')
  return issue.keys.map((key) => `${prefix}${key} is not an option; see the list in the README.`).join(' ')
}
