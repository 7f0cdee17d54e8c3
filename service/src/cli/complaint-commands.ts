import type { Command } from 'commander'
import { type CommonOptions, type Io, print } from './io.js'
import { READS, withOperator } from './store-access.js'
import { table } from './table.js'

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
