import { maskContact, parseUser, type webhooks } from 'countersign/protocol'
import { accountReference } from '../secrets/account-reference.js'
import type { Keys } from '../secrets/keys.js'
import type { DueEvent } from './event-table.js'

const ACCOUNT_PREFIX = 'account:'

/** The body of an event, the same for every attempt. It has no secret and no full contact. */
export function eventBody(keys: Keys, { application, type, account, data, createdAt }: DueEvent): string {
  const user = account === null ? {} : { user: userOf(keys, application, account) }
  return JSON.stringify({
    type,
    timestamp: new Date(createdAt).toISOString(),
    data: { application, ...user, ...data },
  })
}

function userOf(keys: Keys, application: string, account: string): webhooks.WebhookUser {
  const reference = accountReference(keys, { id: application }, account)
  const name = account.slice(account.indexOf(':') + 1)
  const contact = parseUser(name)
  const shown = contact ? maskContact(contact) : name
  return account.startsWith(ACCOUNT_PREFIX)
    ? { account: shown, reference }
    : { contact: contact ? shown : '•••', reference }
}
