import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { table } from './table.js'
import { withOperator } from './store-access.js'

interface ListOptions extends CommonOptions {
  readonly limit: number
  readonly test?: boolean
  readonly state?: string
}

/** `deliveries` and `audit`. */
export function logCommands(program: Command, io: Io): void {
  const limit = () => new Option('--limit <n>', 'at most so many').argParser(readLimit).default(50)

  program
    .command('deliveries')
    .argument('<application>')
    .addOption(new Option('--state <state>', 'only these').choices(['queued', 'sent', 'refused', 'expired']))
    .addOption(limit())
    .option('--test', 'those of test keys')
    .description('messages and how they stand, newest first')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const { state, limit: most, test } = options
      const found = await withOperator(io, options, (ops) =>
        ops.listDeliveries({ application, mode: test ? 'test' : 'live', state, most }),
      )
      print(io, options, found, () =>
        table(
          ['id', 'channel', 'to', 'state', 'tries', 'carrier', 'fault', 'created', 'next try', 'settled'],
          found.map((one) => [
            ...[one.id, one.channel, one.to, one.state, one.attempts, one.carrier, one.fault],
            ...[one.createdAt, one.dueAt, one.settledAt].map((time) => time && new Date(time)),
          ]),
        ),
      )
    })

  program
    .command('audit')
    .argument('[application]')
    .addOption(limit())
    .description('who changed what, newest first')
    .action(async (application: string | undefined, _own, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const found = await withOperator(io, options, (ops) =>
        ops.listAudit({ application, most: options.limit }),
      )
      print(io, options, found, () =>
        table(
          ['at', 'who', 'application', 'what', ''],
          found.map(({ at, who, application: where, action, detail }) => [
            ...[new Date(at), who, where || '–', action, detail],
          ]),
        ),
      )
    })
}

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('Write a number from 1 to 99999.')
  return Number(text)
}
