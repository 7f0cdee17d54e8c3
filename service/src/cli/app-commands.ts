import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { SCOPES } from 'countersign/protocol'
import { SIGN_IN_SCOPES } from '../accounts/applications/api-key.js'
import { type ApplicationSettings, SETTING_GROUPS, wholeHint } from '../accounts/applications/settings.js'
import { OperatorError } from '../operator/audited-change.js'
import { checkSettingNames, parseSettings } from '../operator/list-applications.js'
import type { Operator } from '../operator/operator.js'
import { durationMs } from '../telemetry/time.js'
import { type CommonOptions, type Io, print, table } from './output.js'
import { READS, withOperator } from './store-access.js'

const LIST = SETTING_GROUPS.flatMap(({ settings }) =>
  settings.map((one) => `  ${one.name.padEnd(25)}${wholeHint(one)}`),
)

const SETTINGS = `
Settings:
${LIST.join('\n')}

Separate the items of a list by commas: methods=email,sms countries=GB,DE.
countries=all serves the phone numbers of every country, which SMS pumping abuses.
emailFrom='Vault <no-reply@vault.example>' smsFrom=Vault set who messages come from; see docs/operating.md.
texts=@file.json reads texts of your own from a file; see docs/operating.md.
Durations are a number with s, m, h or d, such as lockDuration=1h, or milliseconds.

Examples:
  countersign-service app create vault name=Vault tier=enterprise countries=GB,DE
  countersign-service app settings vault origin=vault.example attemptsPerChallenge=3 --unset countries`

/** `app create|list|settings|webhook`. */
export function appCommands(program: Command, io: Io): void {
  const app = program.command('app').description('manage applications, which share no data with each other')

  app
    .command('create')
    .argument('<name>', 'lowercase letters, digits and dashes')
    .argument('[settings...]', 'name=value')
    .description('create an application')
    .addHelpText('after', SETTINGS)
    .action(async (name: string, written: string[], _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const settings = await withCountries(io, parseSettings(withFiles(written)))
      await withOperator(io, options, (operator) => operator.createApplication(name, settings))
      print(io, options, { application: name }, () => `Created "${name}". Next: key create ${name}`)
    })

  app
    .command('list')
    .description('list all applications')
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (operator) => operator.listApplications(), READS)
      print(io, options, found, () =>
        table(
          ['application', 'name', 'tier', 'live keys', 'test keys', 'created'],
          found.map((one) => [
            ...[one.application, one.name, one.tier, one.liveKeys, one.testKeys],
            new Date(one.createdAt),
          ]),
        ),
      )
    })

  app
    .command('settings')
    .argument('<name>', 'the application')
    .argument('[settings...]', 'name=value')
    .option('--unset <names...>', 'reset these to their defaults')
    .option('--lock-out', 'also if users are left without a factor that they can use')
    .description('show the settings of an application, or change some')
    .addHelpText('after', SETTINGS)
    .action(
      async (
        name: string,
        written: string[],
        own: { unset?: string[]; lockOut?: true },
        command: Command,
      ) => {
        const options = command.optsWithGlobals<CommonOptions>()
        const set = parseSettings(withFiles(written))
        const unset = checkSettingNames(own.unset ?? [])
        const changes = written.length + unset.length > 0
        const settings = await withOperator(
          io,
          options,
          async (operator) => {
            if (changes) await operator.changeSettings(name, { set, unset, lockOut: own.lockOut === true })
            return operator.showSettings(name)
          },
          changes ? {} : READS,
        )
        print(io, options, settings, () =>
          table(
            ['setting', 'value', ''],
            settings.map(({ name: setting, value, from }) => [
              ...[setting, value || '–'],
              from === 'set' ? 'set' : '',
            ]),
          ),
        )
        if (name === 'default' && !options.json) {
          io.err('The environment variables of the service decide everything that is not set for "default".')
        }
      },
    )

  webhookCommand(app, io)
}

interface NewKeyOptions {
  readonly test?: boolean
  readonly label?: string
  readonly scopes: string
  readonly expires?: string
}

/** `key create|list|revoke`. */
export function keyCommands(program: Command, io: Io): void {
  const key = program.command('key').description('manage the API keys of an application')

  key
    .command('create')
    .argument('<application>')
    .option('--test', 'create a test key, which has its own data and delivers nothing')
    .option('--label <text>', 'what it is for')
    .option('--scopes <list>', `what it may do, of ${SCOPES.join(', ')}`, SIGN_IN_SCOPES.join(','))
    .option('--expires <duration>', 'when it expires, such as 90d; without it, never')
    .description('create a key and print it, this once')
    .addHelpText('after', '\nExample:\n  KEY=$(countersign-service key create vault --label "web servers")')
    .action(async (application: string, own: NewKeyOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const mode = own.test ? 'test' : 'live'
      const scopes = own.scopes.split(',').map((scope) => scope.trim())
      const lifetimeMs = own.expires === undefined ? undefined : (durationMs(own.expires) ?? Number.NaN)
      const created = await withOperator(io, options, (operator) =>
        operator.createKey(application, { mode, label: own.label, scopes, lifetimeMs }),
      )
      print(io, options, { ...created, application, mode }, () => created.key)
      if (!options.json)
        io.err(`Created ${created.id}, a ${mode} key of "${application}". It is not shown again.`)
    })

  key
    .command('list')
    .argument('<application>')
    .description('list the keys of an application')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = await withOperator(io, options, (operator) => operator.listKeys(application), READS)
      print(io, options, keys, () =>
        table(
          ['id', 'key', 'label', 'scopes', 'last address', 'created', 'expires', 'last used', 'revoked'],
          keys.map((one) => [
            ...[one.id, one.hint, one.label || null, one.scopes.join(' '), one.lastAddress],
            ...[one.createdAt, one.expiresAt, one.lastUsedAt, one.revokedAt].map(
              (time) => time && new Date(time),
            ),
          ]),
        ),
      )
    })

  key
    .command('revoke')
    .argument('<application>')
    .argument('<id>', 'the id that `key list` shows')
    .description('revoke a key for good; all processes refuse it within a second')
    .action(async (application: string, id: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.revokeKey(application, id))
      print(io, options, { id, revoked: true }, () => `Revoked ${id}.`)
    })
}

/**
 * The settings of a new application with the countries that it serves, which nobody should leave open by accident: as
 * given, else as answered at the terminal, else SERVICE_HOME_COUNTRY. Throws an `OperatorError` when there is none of these.
 */
async function withCountries(io: Io, settings: ApplicationSettings): Promise<ApplicationSettings> {
  if (settings.countries !== undefined) return settings
  const home = io.env.SERVICE_HOME_COUNTRY
  if (!io.ask) {
    if (home) return { ...settings, ...parseSettings([`countries=${home}`]) }
    throw new OperatorError(
      'Say which countries have phone numbers that the application sends to: add countries=GB,DE, or countries=all, ' +
        'or set SERVICE_HOME_COUNTRY.',
    )
  }
  const proposed = home || regionOf(io.env)
  const answer = await io.ask(
    `Countries whose phone numbers are served, as ISO codes such as GB,DE, or all${proposed ? ` [${proposed}]` : ''}: `,
  )
  const countries = answer.trim() || proposed
  if (!countries) throw new OperatorError('An application needs its countries: answer GB,DE or all.')
  return { ...settings, ...parseSettings([`countries=${countries}`]) }
}

/** The country of the operator's language setting, such as GB of en_GB.UTF-8. */
function regionOf({ LC_ALL, LANG }: Io['env']): string | undefined {
  return /^[a-z]{2,3}_([A-Z]{2})\b/.exec(LC_ALL || LANG || '')?.[1]
}

/** Replaces `texts=@file.json` and `keyMetadata=@file.json` by the content of the file, which is too long for a command line. */
function withFiles(written: readonly string[]): string[] {
  return written.map((pair) => {
    const [, name, path] = /^(texts|keyMetadata)=@(.+)$/s.exec(pair) ?? []
    return path === undefined ? pair : `${name}=${contentOf(path)}`
  })
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new OperatorError(
      `The file "${path}" cannot be read: give the path of a JSON file, such as texts=@file.json.`,
    )
  }
}

interface WebhookOptions {
  readonly url?: string
  readonly channels?: string
  readonly rotateSecret?: boolean
  readonly remove?: boolean
}

const EXAMPLES = `
Examples:
  countersign-service app webhook vault --url https://vault.example/messages --channels sms,call
  countersign-service app webhook vault --rotate-secret`

/** `app webhook`. */
function webhookCommand(app: Command, io: Io): void {
  app
    .command('webhook')
    .argument('<name>', 'the application')
    .option('--url <address>', 'where to post its messages')
    .option('--channels <list>', 'whose messages, such as sms,call')
    .option('--rotate-secret', 'replace the secret; for 24 hours, requests are signed with both')
    .option('--remove', 'deliver its messages by the carriers of the service again')
    .description("show, set or remove an application's own webhook; its secret is printed once")
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, own: WebhookOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const isChange = Object.keys(own).length > 0
      const { secret, webhook } = await withOperator(
        io,
        options,
        async (operator) => ({
          secret: isChange ? await change(operator, name, own) : undefined,
          webhook: await operator.showWebhook(name),
        }),
        isChange ? {} : READS,
      )
      print(io, options, { ...webhook, ...(secret !== undefined && { secret }) }, () => {
        if (secret !== undefined) return secret
        if (!webhook) return `"${name}" has no webhook.`
        const { url, channels, formerSecretUntil } = webhook
        const until = formerSecretUntil === null ? null : new Date(formerSecretUntil)
        return table(['url', 'channels', 'former secret until'], [[url, channels.join(','), until]])
      })
      if (secret !== undefined && !options.json) {
        io.err(`This is the secret of the webhook of "${name}". It is not shown again.`)
      }
    })
}

/** Makes one change; resolves to a new secret, if there is one. */
async function change(operator: Operator, name: string, own: WebhookOptions): Promise<string | undefined> {
  const { url, channels, rotateSecret, remove } = own
  const isSet = url !== undefined || channels !== undefined
  if ([isSet, rotateSecret, remove].filter(Boolean).length > 1) {
    throw new OperatorError('Use --url and --channels, --rotate-secret or --remove, one at a time.')
  }
  if (remove) await operator.removeWebhook(name)
  else if (rotateSecret) return (await operator.rotateWebhookSecret(name)).secret
  else {
    const list = (channels ?? '').split(',').map((channel) => channel.trim())
    const set = { url: url ?? '', channels: list.filter((channel) => channel !== '') }
    return (await operator.setWebhook(name, set)).secret
  }
  return undefined
}
