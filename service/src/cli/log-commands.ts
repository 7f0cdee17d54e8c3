import { type Command, Option } from 'commander'
import { createCommands } from './commands-of.js'
import { type Io, limitOption, printList } from './output.js'

interface ListOptions {
  readonly limit: number
  readonly test?: boolean
  readonly state?: string
}

/** `deliveries` and `audit`. */
export function logCommands(program: Command, io: Io): void {
  const { read } = createCommands(program, io)
  const states = ['queued', 'sent', 'delivered', 'failed', 'refused', 'expired']

  read(
    'deliveries <application>',
    'list messages and their delivery state, newest first',
    async (operator, application: string, { state, limit, test }: ListOptions) => {
      const mode = test ? 'test' : 'live'
      const { messages } = await operator.searchMessages({ application, mode, state, limit })
      return printList(
        messages,
        ...(['id', 'channel', 'to', 'state', 'attempts', 'carrier', 'fault', 'createdAt'] as const),
        ...([['dueAt', 'next attempt'], 'settledAt'] as const),
      )
    },
  )
    .addOption(new Option('--state <state>', 'only messages in this state').choices(states))
    .addOption(limitOption())
    .option('--test', 'the messages of test keys')

  read(
    'audit [application]',
    'list changes by operators, newest first',
    async (operator, application: string | undefined, { limit }: ListOptions) =>
      printList(
        await operator.listAudit({ application, limit }),
        ...(['at', 'actor', 'application', 'action', 'detail'] as const),
      ),
  ).addOption(limitOption())
}

/** `complaint list|lift`. */
export function complaintCommands(program: Command, io: Io): void {
  const complaint = program
    .command('complaint')
    .description('manage the mailboxes that get no more mail because their owners reported it as spam')
  const { read, change } = createCommands(complaint, io)

  read(
    'list <application>',
    'list these mailboxes, masked, latest first',
    async (operator, application: string) =>
      printList(await operator.listComplaints(application), 'mailbox', ['complainedAt', 'reported']),
  )

  change(
    'lift <application>',
    'let a mailbox get mail again',
    async (operator, application: string, mailbox: string) => {
      await operator.liftComplaint(application, mailbox)
      return { result: { lifted: true }, text: `The mailbox gets mail of "${application}" again.` }
    },
  ).argument('<mailbox>', 'in full, as its owner names it')
}

const DESTINATION =
  'a country such as GB, or a prefix such as +44740012 (a number without its last four digits)'

/** `traffic show|pause|resume`. */
export function trafficCommands(program: Command, io: Io): void {
  const traffic = program.command('traffic').description('watch and pause codes that are sent to phones')
  const { read, change } = createCommands(traffic, io)

  read(
    'show <application>',
    'list countries and prefixes with their sent and typed codes, paused ones first',
    async (operator, application: string) =>
      printList(
        await operator.showTraffic(application),
        ...(['destination', 'thisHour', 'sent', 'typed', 'pausedAt'] as const),
      ),
  )

  for (const [name, description, done] of [
    ['pause', 'send nothing to the phones of a country or prefix', 'Nothing is sent to'],
    ['resume', 'end a pause, and count sent and typed codes anew', 'Messages are sent again to'],
  ] as const) {
    change(
      `${name} <application>`,
      description,
      async (operator, application: string, destination: string) => {
        await operator[`${name}Traffic`](application, destination)
        return { result: { destination, paused: name === 'pause' }, text: `${done} ${destination}.` }
      },
    ).argument('<destination>', DESTINATION)
  }
}
