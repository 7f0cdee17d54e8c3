import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { SCOPES } from 'countersign/protocol'
import { SIGN_IN_SCOPES } from '../accounts/applications/api-key.js'
import { type ApplicationSettings, SETTING_GROUPS, wholeHint } from '../accounts/applications/settings.js'
import { OperatorError } from '../operator/audited-change.js'
import { checkSettingNames, parseSettings } from '../operator/list-applications.js'
import type { Operator } from '../operator/operator.js'
import { durationMs } from '../time.js'
import { tryTo } from '../try-to.js'
import { createCommands } from './commands-of.js'
import { type CommonOptions, formatTable, type Io, type Printed, print, printList, table } from './output.js'
import { runAsOperator } from './store-access.js'

const LIST = SETTING_GROUPS.flatMap(({ settings }) =>
  settings.map((setting) => `  ${setting.name.padEnd(25)}${wholeHint(setting)}`),
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
      const settings = await askCountries(io, parseSettings(readFiles(written)))
      await runAsOperator(io, options, (operator) => operator.createApplication(name, settings))
      print(io, options, {
        result: { application: name },
        text: `Created "${name}". Next: key create ${name}`,
      })
    })

  const { read, change } = createCommands(app, io)

  read('list', 'list all applications', async (operator) =>
    printList(
      await operator.listApplications(),
      ...(['application', 'name', 'tier', 'liveKeys', 'testKeys', 'createdAt'] as const),
    ),
  )

  change(
    'settings',
    'show the settings of an application, or change some',
    setAndShowSettings,
    (_name, written, { unset = [] }) => written.length + unset.length > 0,
  )
    .argument('<name>', 'the application')
    .argument('[settings...]', 'name=value')
    .option('--unset <names...>', 'reset these to their defaults')
    .option('--lock-out', 'also if users are left without a factor that they can use')
    .addHelpText('after', SETTINGS)

  change(
    'webhook',
    "show, set or remove an application's own webhook; its secret is printed once",
    changeWebhook,
    (_name, own) => isWebhookChange(own),
  )
    .argument('<name>', 'the application')
    .option('--url <address>', 'where to post its messages')
    .option('--channels <list>', 'whose messages, such as sms,call')
    .option('--rotate-secret', 'replace the secret; for 24 hours, requests are signed with both')
    .option('--remove', 'deliver its messages by the carriers of the service again')
    .addHelpText('after', EXAMPLES)
}

/** Changes settings, if some are given, and shows them all. */
async function setAndShowSettings(
  operator: Operator,
  name: string,
  written: string[],
  own: { readonly unset?: string[]; readonly lockOut?: true },
): Promise<Printed> {
  const set = parseSettings(readFiles(written))
  const unset = checkSettingNames(own.unset ?? [])
  if (written.length + unset.length > 0) {
    await operator.changeSettings(name, { set, unset, lockOut: own.lockOut === true })
  }
  const settings = await operator.showSettings(name)
  const rows = settings.map(({ name: setting, value, from }) => [
    ...[setting, value || '–'],
    from === 'set' ? 'set' : '',
  ])
  return {
    result: settings,
    text: table(['setting', 'value', ''], rows),
    hint:
      name === 'default'
        ? 'The environment variables of the service decide everything that is not set for "default".'
        : undefined,
  }
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
  const { read, change } = createCommands(key, io)

  change('create <application>', 'create a key and print it, this once', createKey)
    .option('--test', 'create a test key, which has its own data and delivers nothing')
    .option('--label <text>', 'what it is for')
    .option('--scopes <list>', `what it may do, of ${SCOPES.join(', ')}`, SIGN_IN_SCOPES.join(','))
    .option('--expires <duration>', 'when it expires, such as 90d; without it, never')
    .addHelpText('after', '\nExample:\n  KEY=$(countersign-service key create vault --label "web servers")')

  read('list <application>', 'list the keys of an application', async (operator, application: string) =>
    printList(
      await operator.listKeys(application),
      ...(['id', ['hint', 'key'], 'label', 'scopes', 'lastAddress', 'createdAt', 'expiresAt'] as const),
      ...(['lastUsedAt', 'revokedAt'] as const),
    ),
  )

  change(
    'revoke <application>',
    'revoke a key for good; all processes refuse it within a second',
    async (operator, application: string, id: string) => {
      await operator.revokeKey(application, id)
      return { result: { id, revoked: true }, text: `Revoked ${id}.` }
    },
  ).argument('<id>', 'the id that `key list` shows')
}

async function createKey(
  operator: Operator,
  application: string,
  { test, label, scopes: list, expires }: NewKeyOptions,
): Promise<Printed> {
  const mode = test ? 'test' : 'live'
  const scopes = list.split(',').map((scope) => scope.trim())
  const lifetimeMs = expires === undefined ? undefined : (durationMs(expires) ?? Number.NaN)
  const created = await operator.createKey(application, { mode, label, scopes, lifetimeMs })
  const hint = `Created ${created.id}, a ${mode} key of "${application}". It is not shown again.`
  return { result: { ...created, application, mode }, text: created.key, hint }
}

/** The settings of a new application with its countries: as given, answered at the terminal, or SERVICE_HOME_COUNTRY; never by accident all. */
async function askCountries(io: Io, settings: ApplicationSettings): Promise<ApplicationSettings> {
  if (settings.countries !== undefined) return settings
  const home = io.env.SERVICE_HOME_COUNTRY
  if (!io.ask) {
    if (home) return { ...settings, ...parseSettings([`countries=${home}`]) }
    throw new OperatorError(
      'Say which countries have phone numbers that the application sends to: add countries=GB,DE, or countries=all, ' +
        'or set SERVICE_HOME_COUNTRY.',
    )
  }
  const proposed = home || getRegion(io.env)
  const answer = await io.ask(
    `Countries whose phone numbers are served, as ISO codes such as GB,DE, or all${proposed ? ` [${proposed}]` : ''}: `,
  )
  const countries = answer.trim() || proposed
  if (!countries) throw new OperatorError('An application needs its countries: answer GB,DE or all.')
  return { ...settings, ...parseSettings([`countries=${countries}`]) }
}

/** The country of the operator's language setting, such as GB of en_GB.UTF-8. */
function getRegion({ LC_ALL, LANG }: Io['env']): string | undefined {
  return /^[a-z]{2,3}_([A-Z]{2})\b/.exec(LC_ALL || LANG || '')?.[1]
}

/** Replaces `texts=@file.json` and `keyMetadata=@file.json` by the content of the file, which is too long for a command line. */
function readFiles(written: readonly string[]): string[] {
  return written.map((pair) => {
    const [, name, path] = /^(texts|keyMetadata)=@(.+)$/s.exec(pair) ?? []
    return path === undefined ? pair : `${name}=${readContent(path)}`
  })
}

function readContent(path: string): string {
  const content = tryTo(() => readFileSync(path, 'utf8'))
  if (content !== undefined) return content
  throw new OperatorError(
    `The file "${path}" cannot be read: give the path of a JSON file, such as texts=@file.json.`,
  )
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

function isWebhookChange({ url, channels, rotateSecret, remove }: WebhookOptions): boolean {
  return [url, channels, rotateSecret, remove].some((given) => given !== undefined)
}

/** Changes the webhook of an application, if something is given, and shows it. */
async function changeWebhook(operator: Operator, name: string, own: WebhookOptions): Promise<Printed> {
  const secret = isWebhookChange(own) ? await change(operator, name, own) : undefined
  const webhook = await operator.showWebhook(name)
  if (secret !== undefined) {
    const hint = `This is the secret of the webhook of "${name}". It is not shown again.`
    return { result: { ...webhook, secret }, text: secret, hint }
  }
  if (!webhook) return { result: {}, text: `"${name}" has no webhook.` }
  return { result: webhook, text: formatTable([webhook], 'url', 'channels', 'formerSecretUntil') }
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
