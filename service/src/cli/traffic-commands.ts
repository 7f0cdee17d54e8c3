import type { Command } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { READS, withOperator } from './store-access.js'
import { table } from './table.js'

const DESTINATION =
  'a country such as GB, or a prefix such as +44740012 (a number without its last four digits)'

/** `traffic show|pause|resume`. */
export function trafficCommands(program: Command, io: Io): void {
  const traffic = program.command('traffic').description('watch and pause codes that are sent to phones')

  traffic
    .command('show')
    .argument('<application>')
    .description('list countries and prefixes with their sent and typed codes, paused ones first')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (operator) => operator.showTraffic(application), READS)
      print(io, options, found, () =>
        table(
          ['destination', 'this hour', 'sent', 'typed', 'paused'],
          found.map(({ destination, thisHour, sent, typed, pausedAt }) => [
            ...[destination, thisHour, sent, typed],
            pausedAt === null ? null : new Date(pausedAt),
          ]),
        ),
      )
    })

  const change = (name: 'pause' | 'resume', description: string, done: string) =>
    traffic
      .command(name)
      .argument('<application>')
      .argument('<destination>', DESTINATION)
      .description(description)
      .action(async (application: string, destination: string, _own, command: Command) => {
        const options = command.optsWithGlobals<CommonOptions>()
        await withOperator(io, options, (operator) =>
          name === 'pause'
            ? operator.pauseTraffic(application, destination)
            : operator.resumeTraffic(application, destination),
        )
        print(io, options, { destination, paused: name === 'pause' }, () => `${done} ${destination}.`)
      })
  change('pause', 'send nothing to the phones of a country or prefix', 'Nothing is sent to')
  change('resume', 'end a pause, and count sent and typed codes anew', 'Messages are sent again to')
}
