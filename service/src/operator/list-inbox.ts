import { type Mode, partitionOf } from '../application.js'
import { type InboxMessage, storedInbox } from '../carriers/inbox.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'

/** Which messages of the inbox are listed. */
export interface InboxFilter {
  /** The name of the application. */
  readonly application: string
  /** `test` lists the messages of test keys; `live` those of live keys whose carrier is the development inbox. */
  readonly mode: Mode
  /** The maximum number of messages. */
  readonly limit: number
}

/** The messages in the inbox of an application, newest first, with their codes. */
export async function listInbox(
  actor: Actor,
  { application, mode, limit }: InboxFilter,
): Promise<InboxMessage[]> {
  await mustExist(actor.store, application)
  const messages = await storedInbox(actor.store, actor.keys()).messages(partitionOf(application, mode))
  return messages.slice(0, limit)
}
