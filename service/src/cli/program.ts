import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { FaultsError } from '../configuration-error.js'
import { OperatorError } from '../operator/operator-error.js'
import { appCommands } from './app-commands.js'
import { doctorCommand } from './doctor-command.js'
import type { Io } from './io.js'
import { keyCommands } from './key-commands.js'
import { logCommands } from './log-commands.js'
import { serviceCommands } from './service-commands.js'
import { userCommands } from './user-commands.js'

const HELP = `
It works on the store that DATABASE_URL or DATA_DIR (default .data) names, with or without a running service. An
embedded store (DATA_DIR) has one user at a time: stop the service first.
Exit codes: 0 done, 1 refused or failed, 2 the command was not understood.`

/** Runs one command line, without the program's name, and returns the exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const program = new Command('countersign-service')
    .description('Looks after the MFA service: applications, keys, people, secrets.')
    .version(ownVersion(), '--version', 'print the version')
    .option('--json', 'print JSON for programs')
    .option('--as <name>', 'who you are, for the audit log (default: the system user)')
    .addHelpText('after', HELP)
    .showHelpAfterError('See --help.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
    })
  appCommands(program, io)
  keyCommands(program, io)
  userCommands(program, io)
  logCommands(program, io)
  serviceCommands(program, io)
  doctorCommand(program, io)
  for (const command of [...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    command.copyInheritedSettings(program)
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    return tell(error, io)
  }
}

// The sources and the build lie equally deep in the package, so one path serves both.
function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}

function tell(error: unknown, io: Io): number {
  // Commander has said it already, or was asked for help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof OperatorError || error instanceof FaultsError)) throw error
  for (const fault of error.faults) io.err(`error: ${fault}`)
  return 1
}
