import type { Command } from 'commander'
import type { Operator } from '../operator/operator.js'
import { type CommonOptions, type Io, type Printed, print } from './output.js'
import { READS, runAsOperator } from './store-access.js'

/** The action of a command with its arguments and its options, which include those of every command. */
type Work<Given extends readonly unknown[]> = (operator: Operator, ...given: Given) => Promise<Printed>

/** Adds commands to `parent` that an operator carries out. */
export function createCommands(parent: Command, io: Io) {
  /** A command that changes something; `isChange` says whether it does with these arguments. */
  function change<Given extends readonly unknown[]>(
    usage: string,
    description: string,
    work: Work<Given>,
    isChange: (...given: Given) => boolean = () => true,
  ): Command {
    return parent
      .command(usage)
      .description(description)
      .action(async (...given: unknown[]) => {
        const options = (given.at(-1) as Command).optsWithGlobals<CommonOptions>()
        // Commander appends the options of the command itself, and the command.
        const all = [...given.slice(0, -2), options] as unknown as Given
        const use = isChange(...all) ? {} : READS
        print(io, options, await runAsOperator(io, options, (operator) => work(operator, ...all), use))
      })
  }
  return {
    change,
    /** A command that only reads. */
    read: <Given extends readonly unknown[]>(usage: string, description: string, work: Work<Given>) =>
      change(usage, description, work, () => false),
  }
}
