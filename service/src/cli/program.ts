import { Command, CommanderError } from 'commander'
import { OperatorError } from '../operator/audited-change.js'
import { ConfigurationError } from '../process/configuration-error.js'
import { ownVersion } from '../process/own-package.js'
import { appCommands, keyCommands } from './app-commands.js'
import { eventCommands } from './event-commands.js'
import { importCommand } from './import-command.js'
import { complaintCommands, logCommands, trafficCommands } from './log-commands.js'
import { operatorCommands } from './operator-commands.js'
import type { Io } from './output.js'
import { doctorCommand, serviceCommands } from './service-commands.js'
import { userCommands } from './user-commands.js'

const HELP = `
Commands use the store in MFA_DATABASE_URL, else DATABASE_URL, else DATA_DIR (default .data), whether the service is
running or not. Only one process can open an embedded store (DATA_DIR): stop the service first, except for "operator
invite", which a running service carries out.
Exit codes: 0 success, 1 refused or failed, 2 invalid command line.`

/** Runs a command line (without the program's name) and returns the exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const program = new Command('countersign-service')
    .description('Operates the MFA service: applications, API keys, accounts, secrets.')
    .version(ownVersion(), '--version', 'print the version')
    .option('--json', 'print results as JSON')
    .option('--as <name>', 'your name in the audit log (default: the system user)')
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
  importCommand(program, io)
  logCommands(program, io)
  eventCommands(program, io)
  trafficCommands(program, io)
  complaintCommands(program, io)
  operatorCommands(program, io)
  serviceCommands(program, io)
  doctorCommand(program, io)
  for (const command of [...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    command.copyInheritedSettings(program)
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    return report(error, io)
  }
}

function report(error: unknown, io: Io): number {
  // Commander has already printed the message or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (!(error instanceof OperatorError || error instanceof ConfigurationError)) throw error
  for (const fault of error.faults) io.err(`error: ${fault}`)
  return 1
}
