import type { Command } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { READS, withOperator } from './store-access.js'
import { table } from './table.js'

interface NewKeyOptions {
  readonly test?: boolean
  readonly label?: string
}

/** `key create|list|revoke`. */
export function keyCommands(program: Command, io: Io): void {
  const key = program.command('key').description('manage the API keys of an application')

  key
    .command('create')
    .argument('<application>')
    .option('--test', 'create a test key, which has its own data and delivers nothing')
    .option('--label <text>', 'what it is for')
    .description('create a key and print it, this once')
    .addHelpText('after', '\nExample:\n  KEY=$(countersign-service key create vault --label "web servers")')
    .action(async (application: string, own: NewKeyOptions, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const mode = own.test ? 'test' : 'live'
      const created = await withOperator(io, options, (operator) =>
        operator.createKey(application, { mode, label: own.label }),
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
    .argument('<id>', 'the id that `key list` shows')
    .description('revoke a key for good; all processes refuse it within a second')
    .action(async (application: string, id: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.revokeKey(application, id))
      print(io, options, { id, revoked: true }, () => `Revoked ${id}.`)
    })
}
