import { type Command, Option } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { limitOption } from './limit-option.js'
import { READS, withOperator } from './store-access.js'
import { table } from './table.js'

interface ListOptions extends CommonOptions {
  readonly limit: number
  readonly test?: boolean
  readonly state?: string
}

/** `deliveries` and `audit`. */
export function logCommands(program: Command, io: Io): void {
  program
    .command('deliveries')
    .argument('<application>')
    .addOption(
      new Option('--state <state>', 'only messages in this state').choices([
        'queued',
        'sent',
        'delivered',
        'failed',
        'refused',
        'expired',
      ]),
    )
    .addOption(limitOption())
    .option('--test', 'the messages of test keys')
    .description('list messages and their delivery state, newest first')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const { state, limit, test } = options
      const found = await withOperator(
        io,
        options,
        (operator) => operator.listDeliveries({ application, mode: test ? 'test' : 'live', state, limit }),
        READS,
      )
      print(io, options, found, () =>
        table(
          [
            'id',
            'channel',
            'to',
            'state',
            'attempts',
            'carrier',
            'fault',
            'created',
            'next attempt',
            'settled',
          ],
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
    .addOption(limitOption())
    .description('list changes by operators, newest first')
    .action(async (application: string | undefined, _own, command: Command) => {
      const options = command.optsWithGlobals<ListOptions>()
      const found = await withOperator(
        io,
        options,
        (operator) => operator.listAudit({ application, limit: options.limit }),
        READS,
      )
      print(io, options, found, () =>
        table(
          ['at', 'actor', 'application', 'action', 'detail'],
          found.map(({ at, actor, application: changed, action, detail }) => [
            ...[new Date(at), actor, changed || '–', action, detail],
          ]),
        ),
      )
    })
}
