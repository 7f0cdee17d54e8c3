import { type Command, Option } from 'commander'
import { type CommonOptions, type Io, limitOption, print, table } from './output.js'
import { READS, withOperator } from './store-access.js'

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
      const { messages: found } = await withOperator(
        io,
        options,
        (operator) => operator.searchMessages({ application, mode: test ? 'test' : 'live', state, limit }),
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

/** `complaint list|lift`. */
export function complaintCommands(program: Command, io: Io): void {
  const complaint = program
    .command('complaint')
    .description('manage the mailboxes that get no more mail because their owners reported it as spam')

  complaint
    .command('list')
    .argument('<application>')
    .description('list these mailboxes, masked, latest first')
    .action(async (application: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (operator) => operator.listComplaints(application), READS)
      print(io, options, found, () =>
        table(
          ['mailbox', 'reported'],
          found.map(({ mailbox, complainedAt }) => [mailbox, new Date(complainedAt)]),
        ),
      )
    })

  complaint
    .command('lift')
    .argument('<application>')
    .argument('<mailbox>', 'in full, as its owner names it')
    .description('let a mailbox get mail again')
    .action(async (application: string, mailbox: string, _own, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.liftComplaint(application, mailbox))
      print(io, options, { lifted: true }, () => `The mailbox gets mail of "${application}" again.`)
    })
}

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
