import { canonicalUser, parseUser } from 'countersign/protocol'
import { type InboxMessage, storedInbox } from '../messages/carriers/inbox.js'
import { IS_ON_FIRST_ATTEMPT } from '../messages/delivery/outbox-table.js'
import { type DataReference, getPartition, type Mode } from '../store/partition.js'
import { contactReference, listKeys } from '../store/secrets/keys.js'
import type { Value } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, OperatorError } from './audited-change.js'
import { type DeliverySummary, SUMMARY_COLUMNS } from './deliveries.js'

/** How many messages one page searches at most for a channel, carrier or country. */
const MAX_SCANNED = 10_000

/** Which messages are searched. */
export interface MessageFilter extends DataReference {
  /** Only messages in this state. Defaults to all, like the other filters. */
  readonly state?: string | undefined
  /** Only messages of this channel. */
  readonly channel?: string | undefined
  /** Only messages that this carrier accepted or refused. */
  readonly carrier?: string | undefined
  /** Only messages that were written at this time or later, in milliseconds since 1970. */
  readonly from?: number | undefined
  /** Only messages that were written before this time. */
  readonly until?: number | undefined
  /** Only messages to this account: the name that the application sends as `Account`. */
  readonly account?: string | undefined
  /** Only messages to exactly this mailbox or phone number. */
  readonly contact?: string | undefined
  /** The `next` of the page before. Defaults to the first page. */
  readonly after?: string | undefined
  /** The maximum number of messages on the page. */
  readonly limit: number
}

/** A page of messages, newest first. */
export interface MessagePage {
  /** The messages of the page. */
  readonly messages: readonly DeliverySummary[]
  /** Where the next page begins; absent on the last one. A page with fewer messages than its limit can have a next one. */
  readonly next?: string | undefined
}

/** Searches the messages of an application, the newest first, page by page. */
export async function searchMessages(actor: Actor, filter: MessageFilter): Promise<MessagePage> {
  const { store } = actor
  await mustExist(store, filter.application)
  const values: Value[] = []
  const value = (given: Value) => `$${values.push(given)}`
  const application = value(getPartition(filter))
  const addCondition = (given: Value | undefined, sql: (parameter: string) => string) =>
    given === undefined ? [] : [sql(value(given))]
  const after = filter.after === undefined ? undefined : readPosition(filter.after)
  const ofOne = matchAccountOrContactSql(actor, filter, value)
  const own = [
    `application = ${application}`,
    ...ofOne,
    ...addCondition(filter.from, (from) => `created_at >= ${from}`),
    ...addCondition(filter.until, (until) => `created_at < ${until}`),
    // The second comparison alone would not tell PostgreSQL where to begin in the index.
    ...(after
      ? [
          `created_at <= ${value(after.createdAt)}`,
          `(created_at, id) < ($${values.length}, ${value(after.id)})`,
        ]
      : []),
  ]
  // An index has the messages that are neither sent nor on the way for the first time.
  const listed =
    filter.state === undefined || filter.state === 'sent' ? 'true' : `listed_state = ${value(filter.state)}`
  const kinds = filter.state === 'queued' ? [listed, IS_ON_FIRST_ATTEMPT] : [listed]
  const filtered = [
    ...addCondition(filter.state === 'sent' ? 'sent' : undefined, (state) => `state = ${state}`),
    ...addCondition(filter.channel, (channel) => `channel = ${channel}`),
    ...addCondition(filter.carrier, (carrier) => `carrier = ${carrier}`),
  ]
  const scanned = filtered.length > 0 ? MAX_SCANNED : filter.limit
  const newest = `ORDER BY "createdAt" DESC, id DESC LIMIT ${value(scanned)}`
  const known = kinds.map(
    (kind) => `(SELECT * FROM (
         SELECT ${SUMMARY_COLUMNS} FROM outbox WHERE ${[...own, kind].join(' AND ')} ${ofOne.length > 0 ? 'OFFSET 0' : ''}
       ) AS known ${newest})`,
  )
  const rows = await store.query<DeliverySummary & { readonly position: number; readonly scanned: number }>(
    `WITH scanned AS MATERIALIZED (
       SELECT * FROM (${known.join(' UNION ALL ')}) AS listed ${newest}
     ), numbered AS (
       SELECT *, row_number() OVER (ORDER BY "createdAt" DESC, id DESC)::integer AS position,
         count(*) OVER ()::integer AS scanned FROM scanned
     )
     (SELECT * FROM numbered WHERE ${['true', ...filtered].join(' AND ')} ORDER BY position LIMIT ${value(filter.limit)})
     UNION ALL SELECT * FROM numbered WHERE position = ${value(scanned)}
     ORDER BY position`,
    values,
  )
  // The last one of a full scan says where the next page begins, and is not a part of the result unless it was found twice.
  const last = rows.at(-1)
  const isFull = last?.position === scanned
  const found = isFull ? rows.slice(0, -1) : rows
  const isCut = found.length === filter.limit
  const end = isCut ? found.at(-1) : isFull ? last : undefined
  const messages = found.map(({ position: _position, scanned: _scanned, ...message }) => message)
  return { messages, ...(end && { next: `${end.createdAt}.${end.id}` }) }
}

/** Shows the delivery of a message, without its code. */
export async function showMessage({ store }: Actor, given: MessageReference): Promise<DeliverySummary> {
  await mustExist(store, given.application)
  const [message] = await store.query<DeliverySummary>(
    `SELECT ${SUMMARY_COLUMNS} FROM outbox WHERE application = $1 AND id = $2`,
    [getPartition(given), given.id],
  )
  if (message) return message
  throw new OperatorError(`"${given.application}" has no message with this id. Messages are kept for a week.`)
}

/** Identifies a message. */
export interface MessageReference extends DataReference {
  /** The id of the message. */
  readonly id: string
}

function matchAccountOrContactSql(
  actor: Actor,
  { account, contact }: MessageFilter,
  value: (given: Value) => string,
): string[] {
  const byAccount = account === undefined ? [] : [`account = ${value(`account:${account}`)}`]
  if (contact === undefined) return byAccount
  const parsed = parseUser(contact)
  if (!parsed || parsed.kind === 'dual') {
    throw new OperatorError(
      'Write one mailbox or one phone number, such as ann@example.com or +447700900123.',
    )
  }
  const name = canonicalUser(parsed)
  const hashes = listKeys(actor.keys()).map((key) => contactReference(key, parsed))
  return [
    ...byAccount,
    `(account = ${value(`contact:${name}`)} OR recipient = ANY (${value(hashes)}::text[]))`,
  ]
}

/** The time and id at which a page begins. */
function readPosition(after: string): { readonly createdAt: number; readonly id: string } {
  const [, time, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(after) ?? []
  if (time === undefined || id === undefined) {
    throw new OperatorError('This page does not exist: use the `next` of an earlier page of the same search.')
  }
  return { createdAt: Number(time), id }
}

/** Which messages of the inbox are listed. */
export interface InboxFilter extends DataReference {
  /** `test` lists the messages of test keys; `live` those of live keys whose carrier is the development inbox. */
  readonly mode: Mode
  /** The maximum number of messages. */
  readonly limit: number
}

/** Lists the messages of the development inbox, with their texts. */
export async function listInbox(actor: Actor, filter: InboxFilter): Promise<InboxMessage[]> {
  await mustExist(actor.store, filter.application)
  const messages = await storedInbox(actor.store, actor.keys()).messages(getPartition(filter))
  return messages.slice(0, filter.limit)
}
