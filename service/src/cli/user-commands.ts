import type { Command } from 'commander'
import type { Operator } from '../operator/operator.js'
import type { UserReference, UserState } from '../operator/users.js'
import { createCommands } from './commands-of.js'
import { formatTable, type Io, limitOption, type Printed, pairs, printList } from './output.js'

interface UserOptions {
  readonly account?: boolean
  readonly test?: boolean
}

interface UserListOptions extends UserOptions {
  readonly limit: number
  readonly after?: string
}

/** `find` and `user show|unlock|unlock-all|disable-factor|keys|remove-key|list|export|erase`. */
export function userCommands(program: Command, io: Io): void {
  findCommand(program, io)
  const user = program.command('user').description('manage the accounts of an application')
  const { read, change } = createCommands(user, io)
  /** A command about one account; `more` are the arguments after it. */
  const addUserCommand = (
    kind: typeof read,
    name: string,
    description: string,
    work: (operator: Operator, user: UserReference, ...more: string[]) => Promise<Printed>,
  ) =>
    kind(name, description, (operator, application: string, user: string, ...given) => {
      const { account, test } = given.pop() as UserOptions
      const mode = test ? 'test' : 'live'
      const reference = { application, user, isAccount: account === true, mode } as const
      return work(operator, reference, ...(given as string[]))
    })
      .argument('<application>')
      .argument('<user>', 'ann@example.com, +447700900123, or both separated by a colon; or see --account')
      .option('--account', '<user> is the name that the application sends as Account')
      .option('--test', 'use the data of test keys')

  addUserCommand(read, 'show', 'show the lock, factors and failures of an account', async (operator, user) =>
    describeUser(await operator.showUser(user)),
  )

  addUserCommand(change, 'unlock', 'unlock an account', async (operator, user) => {
    await operator.unlockUser(user)
    return { result: { unlocked: true }, text: 'Unlocked.' }
  })

  change(
    'unlock-all <application>',
    'unlock the users who are locked now; their failures stay counted, and disabled factors stay disabled',
    async (operator, application: string, { reason, test }: UserOptions & { reason: string }) => {
      const mode = test ? 'test' : 'live'
      const unlocked = await operator.unlockUsers({ application, mode, lockedBy: Date.now(), reason })
      return {
        result: { unlocked },
        text: `Unlocked users: ${unlocked}. The command unlocks 10,000 at a time.`,
      }
    },
  )
    .requiredOption('--reason <text>', 'why, for the audit log; without contacts')
    .option('--test', 'the users of test keys')

  addUserCommand(
    change,
    'disable-factor',
    'disable a factor until the user sets it up again',
    async (operator, user, given) => {
      const { factor, wasKnown } = await operator.disableFactor(user, given)
      return {
        result: { disabled: factor, wasKnown },
        text: `Disabled ${factor}. The user must set it up again.`,
        remarks: [!wasKnown && 'This account has never used this factor: check the spelling.'],
      }
    },
  ).argument('<factor>', 'app, backup, security-key, passkey, or a contact of the user')

  addUserCommand(read, 'keys', 'list the security keys and passkeys of an account', async (operator, user) =>
    printList(
      await operator.listUserKeys(user),
      ...(['id', ['method', 'kind'], 'name', ['backupEligible', 'can be synced']] as const),
      ...([['createdAt', 'added'], 'lastUsedAt'] as const),
    ),
  )

  addUserCommand(
    change,
    'remove-key',
    'remove a security key or passkey of an account',
    async (operator, user, key) => {
      await operator.removeUserKey(user, key)
      return { result: { removed: true }, text: 'Removed.' }
    },
  ).argument('<key>', 'the id that `user keys` shows')

  addUserCommand(
    read,
    'export',
    'print everything that is stored about an account as JSON, without secrets',
    async (operator, user) => {
      const result = await operator.exportUser(user)
      return { result, text: JSON.stringify(result, null, 2) }
    },
  )

  addUserCommand(
    change,
    'erase',
    'delete everything that is stored about an account; the audit log keeps a keyed hash',
    async (operator, user) => {
      const { reference, deleted } = await operator.eraseUser(user)
      const why = 'Nothing was erased. If you expected data, check the spelling and --account.'
      return {
        result: { reference, deleted: deleted ?? null },
        text: deleted ? `Erased account ${reference}.` : `Nothing is stored about account ${reference}.`,
        remarks: [!deleted && why],
      }
    },
  )

  read(
    'list <application>',
    'list accounts with masked contacts, a page at a time',
    async (operator, application: string, { limit, after, test }: UserListOptions) => {
      const page = await operator.listUsers({ application, mode: test ? 'test' : 'live', limit, after })
      const users = page.users.map((listed) => ({ ...listed, user: listed.account ?? listed.user }))
      return {
        result: page,
        text: formatTable(
          users,
          ...(['user', 'reference', 'email', 'phone', ['authenticatorApp', 'app']] as const),
          ...([['backupCodesLeft', 'backup codes'], 'keys', 'lockedUntil'] as const),
        ),
        hint: page.next === undefined ? undefined : `For the next page, add: --after ${page.next}`,
      }
    },
  )
    .addOption(limitOption('the maximum number of accounts, up to 1000', 1_000))
    .option('--after <next>', 'the next page: what the page before printed')
    .option('--test', 'the accounts of test keys')
}

function describeUser(state: UserState): Printed {
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
  const factors = formatTable(state.factors, 'factor', ['failures', 'wrong codes'], 'disabled')
  return { result: state, text: state.factors.length === 0 ? facts : `${facts}\n\n${factors}` }
}

function findCommand(program: Command, io: Io): void {
  createCommands(program, io)
    .read('find', 'find users and messages of all applications', async (operator, text: string) => {
      const { isCut, messages, ...found } = await operator.find(text)
      const users = found.users.map(({ application, mode, isAccount, shown, reference }) => {
        const [account, user] = isAccount ? [shown, null] : [null, shown]
        return { application, mode, account, user, reference }
      })
      const rows = [
        ...users.map((user) => ({ kind: 'user', ...user })),
        ...messages.map(({ application, mode, id: reference }) => ({
          ...{ kind: 'message', application, mode, account: null, user: null, reference },
        })),
      ]
      const [kind, application, keys] = ['kind', 'application', ['mode', 'keys']] as const
      return {
        result: { users, messages },
        text: formatTable(rows, kind, application, keys, 'account', ['user', 'contact'], 'reference'),
        remarks: [
          rows.length === 0 && 'Nothing was found.',
          isCut && 'There are more users. Write more of what you know.',
        ],
      }
    })
    .argument('<text>', 'an account, a mailbox, a phone number, a reference, or the id of a message')
}
