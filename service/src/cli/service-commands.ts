import { type Command, InvalidArgumentError, Option } from 'commander'
import { guessingSentence, SCOPES } from 'countersign/protocol'
import { DEFAULT_APPLICATION, insertApplication } from '../accounts/applications/directory.js'
import { createSources } from '../messages/receipts/configured-sources.js'
import type { Actor } from '../operator/audited-change.js'
import { diagnoseCarriers, diagnoseReports } from '../operator/diagnose-sending.js'
import { diagnoseStore } from '../operator/diagnose-store.js'
import { type Diagnostic, reportOn } from '../operator/diagnostic.js'
import { diagnoseIdentityProvider } from '../operator/identity-provider.js'
import { moveTables } from '../operator/move-tables.js'
import { listMigrations, recordMigrations } from '../operator/operator.js'
import { BACKUP_CODE_CHOICES, type Restore, recordRestore } from '../operator/record-restore.js'
import { describeKeyUse, rotateSecrets } from '../operator/rotate-secrets.js'
import { ConfigurationError } from '../process/configuration-error.js'
import { isProduction } from '../process/production.js'
import { oidcSettings } from '../run/console-option.js'
import { readEnvironment, VARIABLE_NAMES } from '../run/environment.js'
import { readOptions, type ServiceSettings } from '../run/options.js'
import { openStore } from '../store/open.js'
import { grantPrivileges } from '../store/privileges.js'
import type { Keys } from '../store/secrets/keys.js'
import type { Store } from '../store/store.js'
import { createTranscriber, demonstrationAdvice } from '../transcription/open-transcription.js'
import { type CommonOptions, formatTable, type Io, print, printList } from './output.js'
import { COMMAND_LIMITS, createKeys, READS, storeLocation, systemUser, useStore } from './store-access.js'

const VARIABLES = `
Variables: ${VARIABLE_NAMES.join(', ')}.
The README describes them. Durations are a number with s, m, h or d, such as SERVICE_LOCK_DURATION=1h, or milliseconds.`

const ROTATING = `
To rotate without downtime, complete each step in every process before the next one:
  1. SERVICE_SECRET=old, SERVICE_PREVIOUS_SECRETS=new    every process can read what the new secret encrypts
  2. SERVICE_SECRET=new, SERVICE_PREVIOUS_SECRETS=old    every process encrypts with the new secret
  3. countersign-service rotate-secrets                  with the variables of step 2
  4. remove the old secret when the command says that nothing depends on it`

/** `migrate`, `move`, `rotate-secrets`, `restored` and `serve`. */
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
        await insertApplication(store, DEFAULT_APPLICATION)
        const migrations = await listMigrations(store)
        const applied = migrations.filter(({ appliedAt }) => appliedAt >= began)
        await recordMigrations(createActor(io, store, options), applied)
        if (own.grant !== undefined) await grantPrivileges(store, own.grant)
        print(io, options, printList(migrations, ['name', 'migration'], 'appliedAt'))
      } finally {
        await store.close()
      }
    })

  program
    .command('move')
    .description('move the tables into the schema mfa of their database, while the service is stopped')
    .option('--dry-run', 'only print its statements')
    .action(async (own: { dryRun?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const moved = await useStore(io, (store) => moveTables(createActor(io, store, options), own), READS)
      print(io, options, { result: moved, text: moved.join('\n') })
    })

  program
    .command('rotate-secrets')
    .option('--drop-backup-codes', 'delete the backup codes of former secrets, for example after a leak')
    .description('encrypt with SERVICE_SECRET what was encrypted with a secret in SERVICE_PREVIOUS_SECRETS')
    .addHelpText('after', ROTATING)
    .action(async (own: { dropBackupCodes?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = createKeys(io)
      const rotation = await useStore(io, (store) =>
        rotateSecrets(createActor(io, store, options), keys, own),
      )
      const lines = [
        `Moved ${rotation.moved} sealed texts to key ${rotation.keyId}.`,
        ...rotation.retired.map((id) => `Nothing depends on key ${id} any more.`),
        ...rotation.remaining.map((use) => `${describeKeyUse(use)}.`),
        `${rotation.remaining.length > 0 ? 'Keep' : 'You can now empty'} SERVICE_PREVIOUS_SECRETS.`,
      ]
      print(io, options, { result: rotation, text: lines.join('\n') })
    })

  program
    .command('restored')
    .requiredOption(
      '--at <time>',
      "the time to which the database was restored: '2026-11-22 04:30:00+00'",
      readTime,
    )
    .addOption(
      new Option('--backup-codes <what>', 'drop all; or keep them, with those that were used after the time')
        .choices(BACKUP_CODE_CHOICES)
        .makeOptionMandatory(),
    )
    .description(
      'make void what may have been used after a restore of the database, before the service starts',
    )
    .action(async (restore: Restore, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const found = await useStore(io, (store) => recordRestore(createActor(io, store, options), restore))
      const counts = Object.entries(found.voided).map(([kind, count]) => `${count} ${kind}`)
      const [kind, ...columns] = ['kind', 'application', 'name', 'detail', 'createdAt', 'lastUsedAt'] as const
      const lines = [
        `Void: ${counts.join(', ')}.`,
        `Changes after ${new Date(restore.at).toISOString()} are undone. Confirm each of these, or revoke, disable or change it again:`,
        formatTable(found.unconfirmed, [kind, ''], ...columns),
      ]
      print(io, options, { result: found, text: lines.join('\n') })
    })

  program
    .command('serve')
    .description('start the service, which is configured by SERVICE_ variables')
    .addHelpText('after', VARIABLES)
    .action(async () => {
      const { serve } = await import('../run/serve.js')
      await serve()
    })
}

function readTime(text: string): number {
  const at = Date.parse(text)
  if (/\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(text) && at <= Date.now()) return at
  throw new InvalidArgumentError('It must be a past time with its zone, such as 2026-11-22 04:30:00+00.')
}

function createActor(io: Io, store: Store, options: CommonOptions): Actor {
  const name = options.as ?? systemUser()
  return { store, name, keys: () => createKeys(io), onApplicationChanged: () => {} }
}

/** `doctor`. */
export function doctorCommand(program: Command, io: Io): void {
  program
    .command('doctor')
    .description(
      'check settings, carriers, database, secrets, deliveries and API keys without changing anything; exit code 1 when something is wrong',
    )
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = createKeys(io)
      const { settings, diagnostics: ofSettings } = await diagnoseSettings(io)
      const diagnostics = [...ofSettings, ...(await diagnoseStoreOf(io, keys, settings))]
      const hasErrors = diagnostics.some(({ severity }) => severity === 'error')
      print(io, options, {
        ...printList(diagnostics, ['severity', ''], 'subject', ['message', 'diagnostic']),
        failure: hasErrors && 'The doctor found errors, which are listed above.',
      })
    })
}

/** Checks the environment variables of the service, and the carriers that they configure. */
async function diagnoseSettings(
  io: Io,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly settings?: ServiceSettings }> {
  const { ok, warning } = reportOn('settings')
  try {
    const { dataDir, databaseUrl } = storeLocation(io.env)
    const env = { ...io.env, DATABASE_URL: databaseUrl }
    const { options, warnings } = readEnvironment(env, { dataDir })
    const settings = readOptions(options)
    const { routes, limits } = settings
    const oidc = settings.console && oidcSettings(settings.console)
    const found = warnings.map((message) => warning(message))
    const { failuresBeforeDisable, appStepsAhead } = limits
    const diagnostics = [
      ...(found.length > 0 ? found : [ok('The service can start with them.')]),
      // An app's codes are the easiest to guess: several are valid at a time.
      ok(guessingSentence({ failuresBeforeDisable, validCodes: 2 + appStepsAhead })),
      ...(await diagnoseCarriers(routes)),
      diagnoseReports(createSources(settings)),
      diagnoseTranscription(settings),
      ...(oidc ? [await diagnoseIdentityProvider(oidc, settings.console?.url)] : []),
    ]
    return { diagnostics, settings }
  } catch (error) {
    return { diagnostics: listFaults(error, 'settings') }
  }
}

async function diagnoseStoreOf(io: Io, keys: Keys, settings: ServiceSettings | undefined) {
  const production = isProduction(io.env)
  const service = {
    production,
    optionKey: io.env.SERVICE_API_KEY ? (settings?.apiKeyScopes ?? SCOPES) : undefined,
    homeCountry: io.env.SERVICE_HOME_COUNTRY || undefined,
    applicationName: settings?.applicationName,
    routes: settings?.routes,
    relyingParty: settings?.relyingParty,
    limits: settings?.limits,
  }
  try {
    return await useStore(io, (store) => diagnoseStore(store, keys, service), { migrations: 'skip' })
  } catch (error) {
    return listFaults(error, 'database')
  }
}

function diagnoseTranscription({ transcriber: engine, transcriberKey }: ServiceSettings): Diagnostic {
  const { ok, warning } = reportOn('transcription')
  const advice = demonstrationAdvice(engine)
  if (advice !== undefined) return warning(advice)
  const name = createTranscriber(engine, transcriberKey)?.name
  if (name !== undefined) return ok(`The engine is ${name}.`)
  return engine.by === 'auto' || engine.by === 'off'
    ? ok('There is no engine: transcription is off.')
    : warning(
        `SERVICE_TRANSCRIBER selects ${engine.by}, but it or ffmpeg is not installed: transcription is off.`,
      )
}

function listFaults(error: unknown, subject: Diagnostic['subject']): Diagnostic[] {
  if (!(error instanceof ConfigurationError)) throw error
  return error.faults.map((message) => reportOn(subject).error(message))
}
