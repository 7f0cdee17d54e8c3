import type { Command } from 'commander'
import { readSettingNames, readSettings, SETTING_NAMES } from '../operator/parse-settings.js'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { withOperator } from './store-access.js'

const SETTINGS = `
Settings: ${SETTING_NAMES.join(', ')}.
Lists have commas: methods=email,sms countries=GB,DE. Authenticator apps are always on.

Examples:
  countersign-service app create vault name=Vault tier=enterprise
  countersign-service app settings vault origin=vault.example maxTries=3 --unset countries`

/** `app create|list|settings`. */
export function appCommands(program: Command, io: Io): void {
  const app = program.command('app').description('applications: what shares nothing with each other')

  app
    .command('create')
    .argument('<name>', 'small letters, digits and dashes')
    .argument('[settings...]', 'name=value')
    .description('make an application')
    .addHelpText('after', SETTINGS)
    .action(async (name: string, written: string[], _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const settings = readSettings(written)
      await withOperator(io, options, (ops) => ops.createApplication(name, settings))
      print(io, options, { application: name }, () => `Made "${name}". Next: key create ${name}`)
    })

  app
    .command('list')
    .description('list all applications')
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (ops) => ops.listApplications())
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
    .option('--unset <names...>', 'back to the default')
    .description('show settings, or change some')
    .addHelpText('after', SETTINGS)
    .action(async (name: string, written: string[], own: { unset?: string[] }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const set = readSettings(written)
      const unset = readSettingNames(own.unset ?? [])
      const settings = await withOperator(io, options, async (ops) => {
        if (written.length + unset.length > 0) await ops.changeSettings(name, { set, unset })
        return ops.showSettings(name)
      })
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
        io.err('What is not set for "default" is as the environment of the service says.')
      }
    })
}
