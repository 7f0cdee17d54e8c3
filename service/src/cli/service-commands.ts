import type { Command } from 'commander'
import { listMigrations, noteMigrations } from '../operator/migrations.js'
import { rotateSecrets } from '../operator/rotate-secrets.js'
import { openStore } from '../store/open.js'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { keysOf, storePlace, systemUser, withStore } from './store-access.js'

const ROTATING = `
Without a pause, one step after the other in every process:
  1. SERVICE_SECRET=old, SERVICE_SECRET_PREVIOUS=new    all can read what the new one writes
  2. SERVICE_SECRET=new, SERVICE_SECRET_PREVIOUS=old    all write with the new one
  3. countersign-service rotate-secrets                 with the variables of step 2
  4. take the old secret out when it says that nothing depends on it`

/** `migrate`, `rotate-secrets` and `serve`. */
export function serviceCommands(program: Command, io: Io): void {
  program
    .command('migrate')
    .description('bring the database to this release; the service does so too when it starts')
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const began = Date.now()
      const store = await openStore(storePlace(io.env))
      try {
        const migrations = await listMigrations(store)
        const applied = migrations.filter(({ appliedAt }) => appliedAt >= began)
        await noteMigrations({ store, as: options.as ?? systemUser(), changed: () => {} }, applied)
        print(io, options, migrations, () =>
          table(
            ['migration', 'applied'],
            migrations.map(({ name, appliedAt }) => [name, new Date(appliedAt)]),
          ),
        )
      } finally {
        await store.close()
      }
    })

  program
    .command('rotate-secrets')
    .option('--drop-backup-codes', 'delete backup codes of former secrets, for instance when one has leaked')
    .description('seal everything with SERVICE_SECRET that was sealed with one of SERVICE_SECRET_PREVIOUS')
    .addHelpText('after', ROTATING)
    .action(async (own: { dropBackupCodes?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = keysOf(io)
      const done = await withStore(io, (store) =>
        rotateSecrets({ store, as: options.as ?? systemUser(), changed: () => {} }, keys, own),
      )
      print(io, options, done, () => {
        const lines = [`Moved ${done.moved} to key ${done.keyId}.`]
        for (const id of done.retired) lines.push(`Nothing depends on key ${id} any more.`)
        for (const { count, what, keyId } of done.remaining)
          lines.push(`${count} ${what} depend on key ${keyId}.`)
        const after = done.remaining.length > 0 ? 'Keep' : 'You may empty'
        return [...lines, `${after} SERVICE_SECRET_PREVIOUS.`].join('\n')
      })
    })

  program
    .command('serve')
    .description('start the service, as `npm start` does; its settings are SERVICE_ variables')
    .action(async () => {
      await import('../main.js')
    })
}
