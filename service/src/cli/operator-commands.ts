import type { Command } from 'commander'
import { inviteLocally, type LocalAnswer } from '../operator/local-invitations.js'
import { ROLES, type Role } from '../operator/rights.js'
import { type CommonOptions, type Io, print, table } from './output.js'
import { READS, storeLocation, systemUser, withOperator } from './store-access.js'

/** `operator invite|revoke|reset|end-sessions|list|role|disable|enable|one-person|two-persons`. */
export function operatorCommands(program: Command, io: Io): void {
  const command = program.command('operator').description('manage the people who use the console')

  command
    .command('invite')
    .argument('<email>')
    .option('--role <role>', `${ROLES.join(', ')} (default: viewer, or the role that they have)`)
    .description('print a link that sets password and second factor, valid once, for 24 hours')
    .action(async (email: string, { role }: { role?: Role }, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const invitation =
        (await inviteByService(io, options, { email, role })) ??
        (await withOperator(io, options, (operator) => operator.inviteOperator({ email, role })))
      printLink(io, options, email, invitation)
    })

  command
    .command('revoke')
    .argument('<email>')
    .description('make the link of an invitation void')
    .action(async (email: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.revokeInvitation(email))
      print(io, options, { email, revoked: true }, () => `Revoked the invitation of ${email}.`)
    })

  command
    .command('reset')
    .argument('<email>')
    .option(
      '--independent',
      'and count them as a person of their own, no longer as one with those who invited them',
    )
    .description("end an operator's password, second factors and sessions, and print a link for new ones")
    .action(async (email: string, { independent }: { independent?: boolean }, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const invitation = await withOperator(io, options, (operator) =>
        operator.resetOperator(email, { independent }),
      )
      printLink(io, options, email, invitation)
    })

  command
    .command('end-sessions')
    .argument('<email>')
    .description('end all sessions of an operator, who can sign in again')
    .action(async (email: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.endOperatorSessions(email))
      print(io, options, { email, ended: true }, () => `Ended all sessions of ${email}.`)
    })

  command
    .command('list')
    .description('list all operators with role and state')
    .action(async (_own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (operator) => operator.listOperators(), READS)
      print(io, options, found, () =>
        table(
          ['email', 'role', 'state', 'second factors', 'created', 'last sign-in', 'one person with'],
          found.map(({ email, role, state, factors, createdAt, signedInAt, samePersonAs }) => [
            ...[email, role, state, factors.join(' ') || null, new Date(createdAt)],
            signedInAt && new Date(signedInAt),
            samePersonAs.join(', ') || null,
          ]),
        ),
      )
    })

  command
    .command('role')
    .argument('<email>')
    .argument('<role>', ROLES.join(', '))
    .description('give an operator another role, with effect on their next request')
    .action(async (email: string, role: Role, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.changeRole(email, role))
      print(io, options, { email, role }, () => `${email} is ${role} now.`)
    })

  command
    .command('disable')
    .argument('<email>')
    .description("disable an operator's account and end its sessions; a new invitation enables it again")
    .action(async (email: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.disableOperator(email))
      print(io, options, { email, disabled: true }, () => `Disabled ${email}.`)
    })

  command
    .command('enable')
    .argument('<name>', 'issuer and subject, as `operator list` shows them')
    .description('let an operator of the identity provider sign in again whose account was disabled')
    .action(async (name: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      await withOperator(io, options, (operator) => operator.enableOperator(name))
      print(io, options, { name, disabled: false }, () => `Enabled ${name}.`)
    })

  for (const are of ['one', 'two'] as const) {
    const persons = are === 'one' ? 'one person' : 'two persons'
    command
      .command(`${persons.replace(' ', '-')} <one> <other>`)
      .description(`say that two accounts, named as in the list, belong to ${persons}, for approvals`)
      .action(async (one: string, other: string, _own, me: Command) => {
        const options = me.optsWithGlobals<CommonOptions>()
        await withOperator(io, options, (operator) => operator.tellPersons(one, other, are))
        print(io, options, { one, other, persons: are }, () => `${one} and ${other} are ${persons} now.`)
      })
  }
}

/** Has the service make the invitation that runs on the embedded database, which only one process can open. */
async function inviteByService(
  io: Io,
  options: CommonOptions,
  invited: { readonly email: string; readonly role: Role | undefined },
): Promise<LocalAnswer | undefined> {
  const { databaseUrl, dataDir } = storeLocation(io.env)
  if (databaseUrl !== undefined) return undefined
  return inviteLocally(dataDir, { ...invited, as: options.as ?? systemUser() })
}

function printLink(
  io: Io,
  options: CommonOptions,
  email: string,
  { token, expiresAt, console = '' }: LocalAnswer,
): void {
  const url = io.env.SERVICE_CONSOLE_URL || io.env.SERVICE_PUBLIC_URL || console
  const base = url.replace(/\/+$/, '')
  const link = `${base}/console/invitation/${token}`
  print(io, options, { email, link, expiresAt }, () => link)
  if (options.json) return
  io.err(`Send this link to ${email} only: its holder becomes this operator. It is not shown again.`)
  if (!base) io.err('Put the address of the console before it, or set SERVICE_CONSOLE_URL.')
}
