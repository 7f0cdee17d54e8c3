import type { Command } from 'commander'
import type { UserReference } from '../operator/users.js'
import { type CommonOptions, type Io, print } from './io.js'
import { READS, withOperator } from './store-access.js'
import { pairs, table } from './table.js'

interface UserOptions extends CommonOptions {
  readonly account?: boolean
  readonly test?: boolean
}

/** `user show|unlock|disable-factor`. */
export function userCommands(program: Command, io: Io): void {
  const user = program.command('user').description('manage the accounts of an application')
  const command = (name: string) =>
    user
      .command(name)
      .argument('<application>')
      .argument('<user>', 'ann@example.com, +447700900123, or both separated by a colon; or see --account')
      .option('--account', '<user> is the name that the application sends as Account')
      .option('--test', 'use the data of test keys')

  command('show')
    .description('show the lock, factors and failures of an account')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const state = await withOperator(
        io,
        options,
        (operator) => operator.showUser(referenceTo(application, who, options)),
        READS,
      )
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
    .description('unlock an account')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      await withOperator(io, options, (operator) =>
        operator.unlockUser(referenceTo(application, who, options)),
      )
      print(io, options, { unlocked: true }, () => 'Unlocked.')
    })

  command('disable-factor')
    .argument('<factor>', 'app, backup, or a contact of the user')
    .description('disable a factor until the user sets it up again')
    .action(async (application: string, who: string, factor: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const disabled = await withOperator(io, options, (operator) =>
        operator.disableFactor(referenceTo(application, who, options), factor),
      )
      print(
        io,
        options,
        { disabled: disabled.factor, wasKnown: disabled.wasKnown },
        () => `Disabled ${disabled.factor}. The user must set it up again.`,
      )
      if (!disabled.wasKnown) {
        io.err('This account has never used this factor: check the spelling.')
      }
    })
}

function referenceTo(application: string, user: string, { account, test }: UserOptions): UserReference {
  return { application, user, isAccount: account === true, mode: test ? 'test' : 'live' }
}
