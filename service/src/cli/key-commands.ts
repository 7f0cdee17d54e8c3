import type { Command } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { withOperator } from './store-access.js'

interface NewKeyOptions {
  readonly test?: boolean
  readonly label?: string
}

/** `key create|list|revoke`. */
export function keyCommands(program: Command, io: Io): void {
  const key = program.command('key').description('API keys of an application')

  key
    .command('create')
    .argument('<application>')
    .option('--test', 'a test key: data of its own, delivers nothing')
    .option('--label <text>', 'what it is for')
    .description('make a key; it is shown this once')
    .addHelpText('after', '\nExample:\n  KEY=$(countersign-service key create vault --label "web servers")')
    .action(async (application: string, own: NewKeyOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const mode = own.test ? 'test' : 'live'
      const made = await withOperator(io, options, (ops) =>
        ops.createKey(application, { mode, label: own.label }),
      )
      print(io, options, { ...made, application, mode }, () => made.key)
      if (!options.json) io.err(`${made.id}, a ${mode} key of "${application}". It is not shown again.`)
    })

  key
    .command('list')
    .argument('<application>')
    .description('list the keys of an application')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = await withOperator(io, options, (ops) => ops.listKeys(application))
      print(io, options, keys, () =>
        table(
          ['id', 'key', 'label', 'created', 'last used', 'revoked'],
          keys.map((one) => [
            ...[one.id, one.hint, one.label || null],
            ...[one.createdAt, one.lastUsedAt, one.revokedAt].map((time) => time && new Date(time)),
          ]),
        ),
      )
    })

  key
    .command('revoke')
    .argument('<application>')
    .argument('<id>', 'as `key list` shows it')
    .description('revoke a key for good; every process refuses it within a second')
    .action(async (application: string, id: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (ops) => ops.revokeKey(application, id))
      print(io, options, { id, revoked: true }, () => `Revoked ${id}.`)
    })
}
