import { type CommandIo, EXIT_CODES, runCheck } from './check.js'

const HELP = `Usage: countersign <command>

  init [folder]    Adds Countersign to an Express app: shows what it would add, and writes it with --write.
  check <address>  Finds the routes of a running app that skip the second factor.

countersign <command> --help describes the options of a command.`

/** Runs a command and returns its exit code. */
export async function runCommand([command, ...args]: readonly string[], io: CommandIo): Promise<number> {
  try {
    if (command === 'check') return await runCheck(args, io)
    // Loads a parser, which `check` does not need.
    if (command === 'init') return await (await import('./init.js')).runInit(args, io)
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error))
    return EXIT_CODES.unknown
  }
  if (command === '--help' || command === '-h' || command === 'help') {
    io.out(HELP)
    return 0
  }
  io.err(command === undefined ? HELP : `There is no command "${command}". See countersign --help.`)
  return EXIT_CODES.unknown
}
