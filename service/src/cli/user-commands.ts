import { type Command, InvalidArgumentError, Option } from 'commander'
import type { UserReference } from '../operator/users.js'
import { type CommonOptions, type Io, pairs, print, table } from './output.js'
import { READS, withOperator } from './store-access.js'

interface UserOptions extends CommonOptions {
  readonly account?: boolean
  readonly test?: boolean
}

interface UserListOptions extends UserOptions {
  readonly limit: number
  readonly after?: string
}

/** `find` and `user show|unlock|disable-factor|list|export|erase`. */
export function userCommands(program: Command, io: Io): void {
  findCommand(program, io)
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
          ['security keys and passkeys', state.keys],
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
    .argument('<factor>', 'app, backup, security-key, passkey, or a contact of the user')
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

  command('keys')
    .description('list the security keys and passkeys of an account')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const keys = await withOperator(
        io,
        options,
        (operator) => operator.listUserKeys(referenceTo(application, who, options)),
        READS,
      )
      print(io, options, keys, () =>
        table(
          ['id', 'kind', 'name', 'can be synced', 'added', 'last used'],
          keys.map(({ id, method, name, backupEligible, createdAt, lastUsedAt }) => [
            ...[id, method, name, backupEligible ? 'yes' : 'no', new Date(createdAt)],
            lastUsedAt === undefined ? null : new Date(lastUsedAt),
          ]),
        ),
      )
    })

  command('remove-key')
    .argument('<key>', 'the id that `user keys` shows')
    .description('remove a security key or passkey of an account')
    .action(async (application: string, who: string, key: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      await withOperator(io, options, (operator) =>
        operator.removeUserKey(referenceTo(application, who, options), key),
      )
      print(io, options, { removed: true }, () => 'Removed.')
    })

  command('export')
    .description('print everything that is stored about an account as JSON, without secrets')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const exported = await withOperator(
        io,
        options,
        (operator) => operator.exportUser(referenceTo(application, who, options)),
        READS,
      )
      io.out(JSON.stringify(exported, null, 2))
    })

  command('erase')
    .description('delete everything that is stored about an account; the audit log keeps a keyed hash')
    .action(async (application: string, who: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserOptions>()
      const { reference, deleted } = await withOperator(io, options, (operator) =>
        operator.eraseUser(referenceTo(application, who, options)),
      )
      print(io, options, { reference, deleted: deleted ?? null }, () =>
        deleted ? `Erased account ${reference}.` : `Nothing is stored about account ${reference}.`,
      )
      if (!deleted) io.err('Nothing was erased. If you expected data, check the spelling and --account.')
    })

  user
    .command('list')
    .argument('<application>')
    .addOption(
      new Option('--limit <n>', 'the maximum number of accounts, up to 1000')
        .argParser(readPageSize)
        .default(50),
    )
    .option('--after <next>', 'the next page: what the page before printed')
    .option('--test', 'the accounts of test keys')
    .description('list accounts with masked contacts, a page at a time')
    .action(async (application: string, _own, me: Command) => {
      const options = me.optsWithGlobals<UserListOptions>()
      const { limit, after, test } = options
      const page = await withOperator(
        io,
        options,
        (operator) => operator.listUsers({ application, mode: test ? 'test' : 'live', limit, after }),
        READS,
      )
      print(io, options, page, () =>
        table(
          ['user', 'reference', 'email', 'phone', 'app', 'backup codes', 'keys', 'locked until'],
          page.users.map((one) => [
            ...[one.account ?? one.user, one.reference, one.email, one.phone],
            ...[one.authenticatorApp ? 'yes' : 'no', one.backupCodesLeft, one.keys],
            one.lockedUntil === null ? null : new Date(one.lockedUntil),
          ]),
        ),
      )
      if (page.next !== undefined && !options.json) io.err(`For the next page, add: --after ${page.next}`)
    })
}

function findCommand(program: Command, io: Io): void {
  program
    .command('find')
    .argument('<text>', 'an account, a mailbox, a phone number, a reference, or the id of a message')
    .description('find users and messages of all applications')
    .action(async (text: string, _own, me: Command) => {
      const options = me.optsWithGlobals<CommonOptions>()
      const found = await withOperator(io, options, (operator) => operator.find(text), READS)
      const users = found.users.map(({ application, mode, isAccount, shown, reference }) => ({
        ...{
          application,
          mode,
          account: isAccount ? shown : null,
          user: isAccount ? null : shown,
          reference,
        },
      }))
      const { messages } = found
      print(io, options, { users, messages }, () =>
        table(
          ['kind', 'application', 'keys', 'account', 'contact', 'reference'],
          [
            ...users.map((one) => [
              ...['user', one.application, one.mode, one.account, one.user, one.reference],
            ]),
            ...messages.map(({ application, mode, id }) => ['message', application, mode, null, null, id]),
          ],
        ),
      )
      if (users.length + messages.length === 0) io.err('Nothing was found.')
      if (found.isCut) io.err('There are more users. Write more of what you know.')
    })
}

function readPageSize(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > 1_000) {
    throw new InvalidArgumentError('It must be a number from 1 to 1000.')
  }
  return Number(text)
}

function referenceTo(application: string, user: string, { account, test }: UserOptions): UserReference {
  return { application, user, isAccount: account === true, mode: test ? 'test' : 'live' }
}
