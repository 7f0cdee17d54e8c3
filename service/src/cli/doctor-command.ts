import type { Command } from 'commander'
import { guessingSentence } from 'countersign/protocol'
import { ConfigurationError } from '../configuration-error.js'
import { readEnvironment } from '../environment.js'
import { diagnoseCarriers, diagnoseReports } from '../operator/diagnose-carriers.js'
import { diagnoseStore } from '../operator/diagnose-store.js'
import type { Diagnostic } from '../operator/diagnostic.js'
import { OperatorError } from '../operator/operator-error.js'
import { readOptions, type ServiceSettings } from '../options.js'
import { isProduction } from '../production.js'
import { configuredSources } from '../reports/configured-sources.js'
import type { Keys } from '../secrets/keys.js'
import { type CommonOptions, type Io, print } from './io.js'
import { keysOf, storeLocation, withStore } from './store-access.js'
import { table } from './table.js'

/** `doctor`. */
export function doctorCommand(program: Command, io: Io): void {
  program
    .command('doctor')
    .description(
      'check settings, carriers, database, secrets, deliveries and API keys without changing anything; exit code 1 when something is wrong',
    )
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = keysOf(io)
      const { settings, diagnostics: ofSettings } = await diagnoseSettings(io)
      const diagnostics = [...ofSettings, ...(await diagnoseStoreOf(io, keys, settings))]
      print(io, options, diagnostics, () =>
        table(
          ['', 'subject', 'diagnostic'],
          diagnostics.map(({ severity, subject, message }) => [severity, subject, message]),
        ),
      )
      if (diagnostics.some(({ severity }) => severity === 'error')) {
        throw new OperatorError('The doctor found errors, which are listed above.')
      }
    })
}

/** Checks the environment variables of the service, and the carriers that they configure. */
async function diagnoseSettings(
  io: Io,
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly settings?: ServiceSettings }> {
  const subject = 'settings'
  try {
    const { options, warnings } = readEnvironment(io.env, { dataDir: storeLocation(io.env).dataDir })
    const settings = readOptions(options)
    const { routes, limits } = settings
    const ok: Diagnostic = { severity: 'ok', subject, message: 'The service can start with them.' }
    const found = warnings.map((message): Diagnostic => ({ severity: 'warning', subject, message }))
    const { failuresBeforeDisable, appStepsAhead } = limits
    // Of all codes, those of an app are the easiest to guess: several are valid at a time.
    const guessing = guessingSentence({ failuresBeforeDisable, validCodes: 2 + appStepsAhead })
    const bound: Diagnostic = { severity: 'ok', subject, message: guessing }
    const diagnostics = [
      ...(found.length > 0 ? found : [ok]),
      bound,
      ...(await diagnoseCarriers(routes)),
      diagnoseReports(configuredSources(settings)),
    ]
    return { diagnostics, settings }
  } catch (error) {
    return { diagnostics: faultsOf(error, subject) }
  }
}

async function diagnoseStoreOf(
  io: Io,
  keys: Keys,
  settings: ServiceSettings | undefined,
): Promise<Diagnostic[]> {
  const production = isProduction(io.env)
  const service = {
    production,
    hasOptionKey: !!io.env.SERVICE_API_KEY,
    homeCountry: io.env.SERVICE_HOME_COUNTRY || undefined,
    routes: settings?.routes,
    relyingParty: settings?.relyingParty,
  }
  try {
    return await withStore(io, (store) => diagnoseStore(store, keys, service), { migrations: 'skip' })
  } catch (error) {
    return faultsOf(error, 'database')
  }
}

function faultsOf(error: unknown, subject: Diagnostic['subject']): Diagnostic[] {
  if (!(error instanceof ConfigurationError)) throw error
  return error.faults.map((message) => ({ severity: 'error', subject, message }))
}
