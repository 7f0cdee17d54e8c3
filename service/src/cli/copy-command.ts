import type { Command } from 'commander'
import { OperatorError } from '../operator/operator-error.js'
import { copyStore, tablesWithRows } from '../store/copy-store.js'
import { openStore } from '../store/open.js'
import { type CommonOptions, type Io, print } from './io.js'
import { COMMAND_LIMITS, READS, storeLocation, withStore } from './store-access.js'
import { table } from './table.js'

/** `copy`. */
export function copyCommand(program: Command, io: Io): void {
  program
    .command('copy')
    .argument('<target>', 'postgresql://… of an empty database, or a new folder for an embedded one')
    .description('copy everything to an empty database or folder; stop the service first')
    .action(async (target: string, _own, command: Command) => {
      const copied = await withStore(io, (store) => copyTo(store, target), READS)
      print(io, command.optsWithGlobals<CommonOptions>(), copied, () =>
        table(
          ['table', 'rows'],
          copied.map((one) => [one.table, one.rows]),
        ),
      )
      const { databaseUrl, dataDir } = storeLocation(io.env)
      const secret = databaseUrl ? 'SERVICE_SECRET' : `SERVICE_SECRET, or the file ${dataDir}/secret`
      io.err(`The copy is encrypted with the same keys: start its service with the same ${secret}.`)
    })
}

async function copyTo(store: Parameters<typeof copyStore>[0], target: string) {
  const location = storeLocation(
    /^[a-z]+:\/\//.test(target) ? { DATABASE_URL: target } : { DATA_DIR: target },
  )
  const other = await openStore({ ...location, postgres: COMMAND_LIMITS })
  try {
    const filled = await tablesWithRows(other)
    if (filled.length === 0) return await copyStore(store, other)
    throw new OperatorError(
      `The target is not empty (${filled.join(', ')}): copy to a new database or folder.`,
    )
  } finally {
    await other.close()
  }
}
