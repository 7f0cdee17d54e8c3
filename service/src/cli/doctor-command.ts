import type { Command } from 'commander'
import { readEnvironment } from '../environment.js'
import { FaultsError } from '../configuration-error.js'
import { examine, type Finding } from '../operator/diagnose-store.js'
import { examineCarriers } from '../operator/diagnose-carriers.js'
import { OperatorError } from '../operator/operator-error.js'
import { readOptions } from '../options.js'
import type { Keys } from '../secrets/keys.js'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { keysOf, storePlace, withStore } from './store-access.js'

/** `doctor`. */
export function doctorCommand(program: Command, io: Io): void {
  program
    .command('doctor')
    .description(
      'look at settings, carriers, database, secrets, deliveries and API keys, and change nothing; exit code 1 when something is wrong',
    )
    .action(async (_own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const keys = keysOf(io)
      const findings = [...(await examineSettings(io)), ...(await examineStore(io, keys))]
      print(io, options, findings, () =>
        table(
          ['', 'about', 'finding'],
          findings.map(({ state, about, finding }) => [state, about, finding]),
        ),
      )
      if (findings.some(({ state }) => state === 'wrong')) {
        throw new OperatorError('Something is wrong: see above.')
      }
    })
}

/** What is wrong with the variables of the service, and with the carriers that they name. */
async function examineSettings(io: Io): Promise<Finding[]> {
  const about = 'settings'
  try {
    const { options, warnings } = readEnvironment(io.env, { dataDir: storePlace(io.env).dataDir })
    const { routes } = readOptions(options)
    const well: Finding = { state: 'well', about, finding: 'The service can start with them.' }
    const looks = warnings.map((finding): Finding => ({ state: 'look', about, finding }))
    return [...(looks.length > 0 ? looks : [well]), ...(await examineCarriers(routes))]
  } catch (error) {
    return faultsOf(error, about)
  }
}

async function examineStore(io: Io, keys: Keys): Promise<Finding[]> {
  const production = io.env.NODE_ENV === 'production'
  const about = { production, environmentKey: !!io.env.SERVICE_API_KEY }
  try {
    return await withStore(io, (store) => examine(store, keys, about), { asItIs: true })
  } catch (error) {
    return faultsOf(error, 'database')
  }
}

function faultsOf(error: unknown, about: Finding['about']): Finding[] {
  if (!(error instanceof FaultsError)) throw error
  return error.faults.map((finding) => ({ state: 'wrong', about, finding }))
}
