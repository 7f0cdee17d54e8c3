import { parseUser } from 'countersign/protocol'
import { type FoundAccount, findAccounts, findAccountsByBeginning } from '../accounts/find-accounts.js'
import { parseReference } from '../messages/delivery/queued-message.js'
import { getPartition, parsePartition } from '../store/partition.js'
import { accountReference, type Keys } from '../store/secrets/keys.js'
import type { Store } from '../store/store.js'
import { type Actor, OperatorError } from './audited-change.js'
import type { MessageReference } from './messages.js'
import { CONSOLE_APPLICATION } from './operator-account.js'
import { createUserReference, maskUser, type UserReference } from './users.js'

/** An account that a search found. */
export interface FoundUser extends UserReference {
  /** The account as it may be shown: masked if it is a contact. */
  readonly shown: string
  /** The keyed hash that stands for the account in the log. */
  readonly reference: string
}

/** The results of a search. */
export interface Found {
  /** By application and name. */
  readonly users: readonly FoundUser[]
  /** The message with this id. */
  readonly messages: readonly MessageReference[]
  /** Whether there are more users than these. */
  readonly isCut: boolean
}

const MAX_FOUND = 20
const MAX_LENGTH = 400

const ACCOUNT_REFERENCE = /^[\da-f]{12}$/i
const MESSAGE_ID = /^[\w-]{22}$/

/** Finds the users and the message that a text can name. */
export async function find({ store, keys }: Actor, text: string): Promise<Found> {
  const wanted = text.trim()
  if (wanted === '' || wanted.length > MAX_LENGTH) {
    throw new OperatorError(
      'Write an account, a mailbox, a phone number such as +447700900123, a reference, or the id of a message.',
    )
  }
  const typed = readTypedContact(wanted)
  const clues = {
    name: wanted,
    contact: parseUser(typed),
    reference: ACCOUNT_REFERENCE.test(wanted) ? wanted.toLowerCase() : undefined,
  }
  const whole = await findAccounts(keys(), store, clues, MAX_FOUND + 1)
  const found = whole.length > 0 ? whole : await findAccountsByBeginning(store, typed, MAX_FOUND + 1)
  // Operators are users of an application of their own.
  const accounts = found.filter(({ application }) => application !== CONSOLE_APPLICATION)
  return {
    users: accounts.slice(0, MAX_FOUND).map((account) => createFoundUser(keys(), account)),
    messages: await findMessages(store, wanted),
    isCut: accounts.length > MAX_FOUND,
  }
}

function createFoundUser(keys: Keys, { application, account }: FoundAccount): FoundUser {
  const user = createUserReference(application, account)
  return { ...user, shown: maskUser(user), reference: accountReference(keys, application, account) }
}

/** A contact as people write it: a number may have spaces, dots, dashes and brackets, and begin with 00. */
function readTypedContact(text: string): string {
  return /^(?:\+|00)[\d\s().-]+$/.test(text) ? text.replace(/^00/, '+').replace(/[\s().-]/g, '') : text
}

/** The message with this id, or the one that its carrier knows by this reference. */
async function findMessages(store: Store, text: string): Promise<MessageReference[]> {
  const named = parseReference(text)
  const id = named?.id ?? text
  if (!MESSAGE_ID.test(id)) return []
  const select = 'SELECT application FROM outbox WHERE id = $1'
  const rows = await store.query<{ application: string }>(select, [id])
  return rows.map(({ application }) => ({ ...parsePartition(application), id }))
}

/** Finds the user whom a message was written to. */
export async function findUserOfMessage(
  { store, keys }: Actor,
  { application, mode, id }: MessageReference,
): Promise<FoundUser> {
  const partitionId = getPartition({ application, mode })
  const [row] = await store.query<{ account: string }>(
    `SELECT account FROM outbox JOIN account USING (application, account) WHERE application = $1 AND id = $2`,
    [partitionId, id],
  )
  if (!row) throw new OperatorError('Nothing is stored about the user of this message.')
  return createFoundUser(keys(), { application: partitionId, account: row.account })
}
