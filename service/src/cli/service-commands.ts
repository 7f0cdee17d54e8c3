import type { Command } from 'commander'
import { listMigrations } from '../operator/migrations.js'
import { openStore } from '../store/open.js'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { storePlace } from './work.js'

/** `migrate` and `serve`. */
export function serviceCommands(program: Command, io: Io): void {
  program
    .command('migrate')
    .description('bring the database to this release; the service does so too when it starts')
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const store = await openStore(storePlace(io.env))
      try {
        const migrations = await listMigrations(store)
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
    .command('serve')
    .description('start the service, as `npm start` does; its settings are SERVICE_ variables')
    .action(async () => {
      await import('../main.js')
    })
}
