import type { Command } from 'commander'
import { inviteLocally, type LocalAnswer } from '../operator/local-invitations.js'
import { ROLES, type Role } from '../operator/rights.js'
import { createCommands } from './commands-of.js'
import { type CommonOptions, type Io, type Printed, print, printList } from './output.js'
import { runAsOperator, storeLocation, systemUser } from './store-access.js'

/** `operator invite|revoke|reset|end-sessions|list|role|disable|enable|one-person|two-persons`. */
export function operatorCommands(program: Command, io: Io): void {
  const command = program.command('operator').description('manage the people who use the console')
  const { read, change } = createCommands(command, io)

  command
    .command('invite <email>')
    .option('--role <role>', `${ROLES.join(', ')} (default: viewer, or the role that they have)`)
    .description('print a link that sets password and second factor, valid once, for 24 hours')
    .action(async (email: string, { role }: { role?: Role }, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const invitation =
        (await inviteByService(io, options, { email, role })) ??
        (await runAsOperator(io, options, (operator) => operator.inviteOperator({ email, role })))
      print(io, options, linkOf(io, email, invitation))
    })

  change('revoke <email>', 'make the link of an invitation void', async (operator, email: string) => {
    await operator.revokeInvitation(email)
    return { result: { email, revoked: true }, text: `Revoked the invitation of ${email}.` }
  })

  change(
    'reset <email>',
    "end an operator's password, second factors and sessions, and print a link for new ones",
    async (operator, email: string, { independent }: { independent?: boolean }) =>
      linkOf(io, email, await operator.resetOperator(email, { independent })),
  ).option(
    '--independent',
    'and count them as a person of their own, no longer as one with those who invited them',
  )

  change(
    'end-sessions <email>',
    'end all sessions of an operator, who can sign in again',
    async (operator, email: string) => {
      await operator.endOperatorSessions(email)
      return { result: { email, ended: true }, text: `Ended all sessions of ${email}.` }
    },
  )

  read('list', 'list all operators with role and state', async (operator) =>
    printList(
      await operator.listOperators(),
      ...(['email', 'role', 'state', ['factors', 'second factors'], 'createdAt'] as const),
      ...([
        ['signedInAt', 'last sign-in'],
        ['samePersonAs', 'one person with'],
      ] as const),
    ),
  )

  change(
    'role <email>',
    'give an operator another role, with effect on their next request',
    async (operator, email: string, role: Role) => {
      await operator.changeRole(email, role)
      return { result: { email, role }, text: `${email} is ${role} now.` }
    },
  ).argument('<role>', ROLES.join(', '))

  change(
    'disable <email>',
    "disable an operator's account and end its sessions; a new invitation enables it again",
    async (operator, email: string) => {
      await operator.disableOperator(email)
      return { result: { email, disabled: true }, text: `Disabled ${email}.` }
    },
  )

  change(
    'enable',
    'let an operator of the identity provider sign in again whose account was disabled',
    async (operator, name: string) => {
      await operator.enableOperator(name)
      return { result: { name, disabled: false }, text: `Enabled ${name}.` }
    },
  ).argument('<name>', 'issuer and subject, as `operator list` shows them')

  for (const are of ['one', 'two'] as const) {
    const persons = are === 'one' ? 'one person' : 'two persons'
    change(
      `${persons.replace(' ', '-')} <one> <other>`,
      `say that two accounts, named as in the list, belong to ${persons}, for consents`,
      async (operator, one: string, other: string) => {
        await operator.tellPersons(one, other, are)
        return { result: { one, other, persons: are }, text: `${one} and ${other} are ${persons} now.` }
      },
    )
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

function linkOf(io: Io, email: string, { token, expiresAt, console = '' }: LocalAnswer): Printed {
  const url = io.env.SERVICE_CONSOLE_URL || io.env.SERVICE_PUBLIC_URL || console
  const base = url.replace(/\/+$/, '')
  const link = `${base}/console/invitation/${token}`
  const hints = [
    `Send this link to ${email} only: its holder becomes this operator. It is not shown again.`,
    ...(base ? [] : ['Put the address of the console before it, or set SERVICE_CONSOLE_URL.']),
  ]
  return { result: { email, link, expiresAt }, text: link, hint: hints.join('\n') }
}
