import type { Command } from 'commander'
import { SETTING_GROUPS, wholeHint } from '../applications/settings.js'
import { checkSettingNames, parseSettings } from '../operator/parse-settings.js'
import { withCountries } from './ask-countries.js'
import { type CommonOptions, type Io, print } from './io.js'
import { withFiles } from './setting-files.js'
import { READS, withOperator } from './store-access.js'
import { table } from './table.js'
import { webhookCommand } from './webhook-command.js'

const LIST = SETTING_GROUPS.flatMap(({ settings }) =>
  settings.map((one) => `  ${one.name.padEnd(25)}${wholeHint(one)}`),
)

const SETTINGS = `
Settings:
${LIST.join('\n')}

Separate the items of a list by commas: methods=email,sms countries=GB,DE. Authenticator apps are always on.
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
