import type { Command } from 'commander'
import type { UserName } from '../operator/users.js'
import { type CommonOptions, type Io, print } from './io.js'
import { pairs, table } from './table.js'
import { withOperator } from './store-access.js'

interface UserOptions extends CommonOptions {
  readonly account?: boolean
  readonly test?: boolean
}

/** `user show|unlock|disable-factor`. */
export function userCommands(program: Command, io: Io): void {
  const user = program.command('user').description('accounts of an application')
  const command = (name: string) =>
    user
      .command(name)
      .argument('<application>')
      .argument('<user>', 'ann@example.com, +447700900123, both with a colon between; or see --account')
      .option('--account', 'the user is given by the name that the application has for the account')
      .option('--test', 'among the data of test keys')

  command('show')
    .description('show locks, factors and failures')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const state = await withOperator(io, options, (ops) => ops.showUser(nameOf(application, who, options)))
      print(io, options, state, () => {
        const facts = pairs([
          ['user', state.user],
          ['locked until', state.lockedUntil && new Date(state.lockedUntil)],
          ['wrong codes in 24 h', state.failures],
          ['email', state.email],
          ['phone', state.phone],
          ['language', state.locale],
          ['authenticator app', state.authenticatorApp],
          ['backup codes left', state.backupCodesLeft],
        ])
        if (state.factors.length === 0) return facts
        const rows = state.factors.map((one) => [one.factor, one.failures, one.disabled])
        return `${facts}\n\n${table(['factor', 'wrong codes', 'disabled'], rows)}`
      })
    })

  command('unlock')
    .description('lift the lock of an account')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      await withOperator(io, options, (ops) => ops.unlockUser(nameOf(application, who, options)))
      print(io, options, { unlocked: true }, () => 'Unlocked.')
    })

  command('disable-factor')
    .argument('<factor>', 'app, backup, or a contact of the person')
    .description('disable a factor until it is bound again')
    .action(async (application: string, who: string, factor: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const disabled = await withOperator(io, options, (ops) =>
        ops.disableFactor(nameOf(application, who, options), factor),
      )
      print(
        io,
        options,
        { disabled: disabled.factor, wasKnown: disabled.wasKnown },
        () => `Disabled ${disabled.factor}. It must be bound again.`,
      )
      if (!disabled.wasKnown) {
        io.err('Nothing has been seen of it in this account so far: is it spelled as it should be?')
      }
    })
}

function nameOf(application: string, user: string, { account, test }: UserOptions): UserName {
  return { application, user, named: account === true, mode: test ? 'test' : 'live' }
}
