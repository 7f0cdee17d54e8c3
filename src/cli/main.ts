import { runAttack } from './attack.js'
import { EXIT_CODES, runCheck } from './check.js'
import type { CommandIo } from './command-io.js'
import { runContract } from './contract.js'
import { runInit } from './init.js'
import { print } from './print.js'

const HELP = `Usage: countersign <command>

  init [folder]    Prints the lines that add Countersign to an Express app.
  check <address>  Finds the routes of an app that skip the second factor.
  attack <address> Attacks the second factor of an app on this machine.
  contract         Checks an MFA service that has the published API.

countersign <command> --help describes the options of a command.`

/** Runs a command and returns its exit code. */
export async function runCommand([command, ...args]: readonly string[], io: CommandIo): Promise<number> {
  try {
    if (command === 'attack') return await runAttack(args, io)
    if (command === 'check') return await runCheck(args, io)
    if (command === 'contract') return await runContract(args, io)
    if (command === 'init') return await runInit(args, io)
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error))
    return EXIT_CODES.unknown
  }
  if (command === '--help' || command === '-h' || command === 'help') {
    print(HELP, io)
    return 0
  }
  io.err(command === undefined ? HELP : `There is no command "${command}". See countersign --help.`)
  return EXIT_CODES.unknown
}
