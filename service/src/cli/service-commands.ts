import type { Command } from 'commander'
import type { Actor } from '../operator/actor.js'
import { describeKeyUse } from '../operator/key-use.js'
import { listMigrations, recordMigrations } from '../operator/migrations.js'
import { rotateSecrets } from '../operator/rotate-secrets.js'
import { openStore } from '../store/open.js'
import { grantPrivileges } from '../store/privileges.js'
import type { Store } from '../store/store.js'
import { VARIABLE_NAMES } from '../variables.js'
import { type CommonOptions, type Io, print } from './io.js'
import { COMMAND_LIMITS, keysOf, storeLocation, systemUser, withStore } from './store-access.js'
import { table } from './table.js'

const VARIABLES = `
Variables: ${VARIABLE_NAMES.join(', ')}.
The README describes them. Durations are a number with s, m, h or d, such as SERVICE_LOCK_DURATION=1h, or milliseconds.`

const ROTATING = `
To rotate without downtime, complete each step in every process before the next one:
  1. SERVICE_SECRET=old, SERVICE_PREVIOUS_SECRETS=new    every process can read what the new secret encrypts
  2. SERVICE_SECRET=new, SERVICE_PREVIOUS_SECRETS=old    every process encrypts with the new secret
  3. countersign-service rotate-secrets                  with the variables of step 2
  4. remove the old secret when the command says that nothing depends on it`

/** `migrate`, `rotate-secrets` and `serve`. */
export function serviceCommands(program: Command, io: Io): void {
  program
    .command('migrate')
    .description("apply this release's migrations to the database; the service also does this when it starts")
    .option('--grant <role>', 'give this role the privileges to run the service: to read and write rows')
    .action(async (own: { grant?: string }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const began = Date.now()
      const store = await openStore({ ...storeLocation(io.env), postgres: COMMAND_LIMITS })
      try {
        const migrations = await listMigrations(store)
        const applied = migrations.filter(({ appliedAt }) => appliedAt >= began)
        await recordMigrations(actorOn(io, store, options), applied)
        if (own.grant !== undefined) await grantPrivileges(store, own.grant)
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
    .option('--drop-backup-codes', 'delete the backup codes of former secrets, for example after a leak')
    .description('encrypt with SERVICE_SECRET what was encrypted with a secret in SERVICE_PREVIOUS_SECRETS')
    .addHelpText('after', ROTATING)
    .action(async (own: { dropBackupCodes?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = keysOf(io)
      const rotation = await withStore(io, (store) => rotateSecrets(actorOn(io, store, options), keys, own))
      print(io, options, rotation, () => {
        const lines = [`Moved ${rotation.moved} sealed texts to key ${rotation.keyId}.`]
        for (const id of rotation.retired) lines.push(`Nothing depends on key ${id} any more.`)
        for (const use of rotation.remaining) lines.push(`${describeKeyUse(use)}.`)
        const advice = rotation.remaining.length > 0 ? 'Keep' : 'You can now empty'
        return [...lines, `${advice} SERVICE_PREVIOUS_SECRETS.`].join('\n')
      })
    })

  program
    .command('serve')
    .description('start the service, which is configured by SERVICE_ variables')
    .addHelpText('after', VARIABLES)
    .action(async () => {
      const { serve } = await import('../serve.js')
      await serve()
    })
}

function actorOn(io: Io, store: Store, options: CommonOptions): Actor {
  const name = options.as ?? systemUser()
  return { store, name, relyingParty: null, keys: () => keysOf(io), onApplicationChanged: () => {} }
}
