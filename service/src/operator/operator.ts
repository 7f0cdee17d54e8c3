import type { Store } from '../store/store.js'
import { showActivity, showLastHour } from './activity.js'
import { createKey, listKeys, revokeKey } from './api-keys.js'
import { removeWebhook, rotateWebhookSecret, setWebhook, showWebhook } from './application-webhooks.js'
import { changeSettings, countUsersLockedOutBy, createApplication, showSettings } from './applications.js'
import { listAudit } from './audit-log.js'
import { type Actor, type Bound, bound, changeWithAudit, OperatorError } from './audited-change.js'
import { CONSENT_METHODS } from './consents.js'
import { showQueue } from './deliveries.js'
import { EVENT_METHODS } from './event-operator.js'
import { find, findUserOfMessage } from './find.js'
import { importFactorsOf } from './import-factors.js'
import { listApplications, searchApplications } from './list-applications.js'
import { listLocked, unlockUsers } from './locked-users.js'
import { liftComplaint, listComplaints } from './mail-complaints.js'
import { listInbox, searchMessages, showMessage } from './messages.js'
import {
  changeRole,
  disableOperator,
  enableOperator,
  endOperatorSessions,
  listOperators,
} from './operator-accounts.js'
import { acceptInvitation, inviteOperator, resetOperator, revokeInvitation } from './operator-invitations.js'
import { hasSecondAdmin, tellPersons } from './operator-relations.js'
import { pauseTraffic, resumeTraffic, showTraffic } from './phone-traffic.js'
import { recordOwnFactor, recordSignIn } from './sign-ins.js'
import { eraseUser, exportUser, listUsers, userTimeline } from './user-data.js'
import { disableFactor, listUserKeys, removeUserKey, showUser, unlockUser } from './users.js'
import { countWaiting, retryMessage, retryMessages } from './waiting-messages.js'

/** A change that, with four eyes, only the consent of a second person makes, if there is one. */
const requireSecond =
  (person: 'operator' | 'administrator', exists: (actor: Actor) => Promise<boolean> = async () => true) =>
  <Given extends unknown[], Result>(change: (actor: Actor, ...given: Given) => Promise<Result>) =>
  async (actor: Actor, ...given: Given): Promise<Result> => {
    if (actor.fourEyes && (await exists(actor))) {
      throw new OperatorError(`This needs a second ${person}: ask for consent.`)
    }
    return change(actor, ...given)
  }
const withSecondOperator = requireSecond('operator')
const withSecondAdmin = requireSecond('administrator', hasSecondAdmin)

/** The operations of an operator, by the functions that do it. */
const METHODS = {
  /** Creates an application. Its name has 1 to 40 lowercase letters, digits and dashes; `countries` defaults to the service's `homeCountry`. */
  createApplication,
  /** Lists all applications by name, with the number of their valid keys. */
  listApplications,
  /** Finds applications by a part of their name, a page at a time, with the number of their valid keys. */
  searchApplications,
  /** Lists every setting of an application with its value, and whether it is set. */
  showSettings,
  /**
   * Sets some settings of an application and returns others to their defaults. The change takes effect immediately in
   * this process, and within a second in all others. With `seen`, throws an `OperatorError` when another operator has
   * changed one of these values in the meantime. Throws one, too, when the change would withhold the only factors of users (R132),
   * unless `lockOut` says that this is meant.
   */
  changeSettings,
  /** Counts the users, by method, who have nothing but keys or an app that a change would withhold: their logins would stay pending. */
  usersLockedOutBy: countUsersLockedOutBy,
  /** Shows the webhook of an application without its secret; `undefined` when it has none. */
  showWebhook,
  /**
   * Delivers an application's messages of some channels to a webhook of its own, instead of to the carriers of the service.
   * The `secret` that signs its requests is returned once, when the webhook is created; later changes keep it. Throws an
   * `OperatorError` that lists everything that is wrong with the address and the channels.
   */
  setWebhook,
  /** Replaces the secret of an application's webhook, and returns the new one this once. For 24 hours, both sign requests. */
  rotateWebhookSecret,
  /** Removes the webhook of an application. Throws an `OperatorError` when it has none. */
  removeWebhook,
  /** Creates an API key, which is returned this once and stored as a hash. `label`, at most 80 characters, defaults to none. */
  createKey,
  /** Lists all keys of an application, revoked ones included, newest first. */
  listKeys,
  /** Revokes a key for good: immediately in this process, within a second in all others. */
  revokeKey,
  /** Shows an account's lock, factors and failures, with masked contacts. Throws an `OperatorError` when the account is unknown. */
  showUser,
  /** Lists the latest challenges, messages and wrong codes of an account, newest first, without codes and contacts. */
  userTimeline,
  /** Unlocks an account: the next lock is as long as if this one had run out. Disabled factors stay disabled. */
  unlockUser,
  /** Lists the accounts of an application that are locked now. */
  listLocked,
  /** Unlocks the accounts that were locked by a time, at most 10,000, and counts them. Throws an `OperatorError` when there are none. */
  unlockUsers,
  /** Disables a factor of an account until it is bound again: `app`, `backup`, `security-key`, `passkey`, or a contact such as `+447700900123`. */
  disableFactor: withSecondOperator(disableFactor),
  /** Lists the security keys and passkeys of an account, in the order in which they were registered. */
  listUserKeys,
  /** Removes a security key or passkey of an account. No notice is sent. Throws an `OperatorError` when the account has no key with this id. */
  removeUserKey: withSecondOperator(removeUserKey),
  /** Lists the accounts of an application by name with masked contacts, from `after`, the `next` of an earlier page. */
  listUsers,
  /** Exports everything that is stored about an account, without secrets and codes. Throws an `OperatorError` when the account is unknown. */
  exportUser,
  /** Deletes everything about an account; an unknown one is no error, so that it can be repeated. The audit log keeps a keyed hash. */
  eraseUser: withSecondOperator(eraseUser),
  /**
   * Adds authenticator apps and backup codes of another system. An account that has an app keeps it. A second run with the same
   * file adds only what is missing, so an import that was interrupted is simply run again. Rows that cannot be imported are in
   * the report; everything else throws an `OperatorError`.
   */
  importFactors: withSecondOperator(importFactorsOf),
  /** Lists the countries and prefixes to whose phones an application sends codes, those with the most untyped codes first. */
  showTraffic,
  /** Pauses the messages of an application to a country (`GB`) or prefix (`+44770090`), with immediate effect. */
  pauseTraffic,
  /** Ends the pause of a country or prefix; its sent and typed codes are counted anew. Throws an `OperatorError` when it is not paused. */
  resumeTraffic,
  /** Shows what was sent and typed in a period, by step, method, country and carrier. Test keys do not count. */
  showActivity,
  /** Compares what all applications sent and what was typed in the last hour with the same hour of last week. */
  showLastHour,
  /** Counts the messages that wait to be delivered, of all applications. */
  showQueue,
  /** Lists the mailboxes that get no more mail of an application because their owners reported it as spam: the latest 200. */
  listComplaints,
  /** Lets a mailbox get mail of an application again, after its owner reported one as spam. */
  liftComplaint,
  /** Lists the latest messages in the inbox of an application, newest first, with their contacts and codes. */
  listInbox,
  /** Finds messages by state, channel, carrier, time, account or one exact contact, newest first, from `after`, the `next` of a page. */
  searchMessages,
  /**
   * Finds users and messages of all applications by account, mailbox, phone number, reference in the log, message id or carrier's id. Without
   * such an account, it finds those whose name begins with the text.
   */
  find,
  /** Finds the user whom a message was written to. Throws an `OperatorError` when nothing is stored about them. */
  findUserOfMessage,
  /** Shows one message. Throws an `OperatorError` when the application has none with this id. */
  showMessage,
  /** Lets a message that waits for its next attempt be delivered now. Throws an `OperatorError` when it does not wait for longer than 15 seconds. */
  retryMessage,
  /** Counts the messages that wait for another attempt, or those of a channel and carrier, up to 10,000. */
  countWaiting,
  /** Lets all of these be delivered now. Throws an `OperatorError` when none waits. */
  retryMessages,
  /** Lists the latest changes in the audit log, newest first. */
  listAudit,
  /**
   * Invites a person to the console and returns the token of the link, which is valid once, for 24 hours. `role` defaults to
   * `viewer`, or to the role that they have. For an operator who has an account, the link replaces password and second factor;
   * with `unlessActive`, throws an `OperatorError` then.
   */
  inviteOperator: withSecondAdmin(inviteOperator),
  /** Makes the open link of an invitation void. An operator without a password is removed. */
  revokeInvitation,
  /**
   * Ends an operator's password, second factors and sessions at once, and returns the token of a new invitation. With
   * `independent`, the account no longer counts as one person with those who invited or changed it. Throws an `OperatorError` when
   * they are the only administrator who can sign in.
   */
  resetOperator: withSecondAdmin(resetOperator),
  /** Sets the password of the invited operator, once. A second factor must be set up within an hour. */
  acceptInvitation,
  /** Notes that this operator has added or removed a second factor of the console. */
  recordOwnFactor,
  /** Notes that this operator has signed in to the console with both factors. */
  recordSignIn,
  /** Lists the operators of the console by email address. */
  listOperators,
  /** Gives an operator another role, with effect on their next request. Throws an `OperatorError` for the only administrator who can sign in. */
  changeRole: withSecondAdmin(changeRole),
  /** Disables an account until a new invitation, and ends its sessions. Throws an `OperatorError` for the only administrator who can sign in. */
  disableOperator,
  /** Lets an operator of the identity provider sign in again whose account was disabled. Throws an `OperatorError` when there is none by this name. */
  enableOperator,
  /** Ends all sessions of an operator, who can sign in again. */
  endOperatorSessions,
  /**
   * Says whether two accounts, such as a local and a company account, belong to one person or to two. Throws an `OperatorError` when one
   * of them does not exist, and for two persons when invitations, links, roles or an email address relate them.
   */
  tellPersons,
}

/**
 * Everything that an operator can do, for a command line or for pages. No method prints anything or asks for input. A
 * method that cannot do what was requested throws an `OperatorError`; one that names an application throws it when the
 * application does not exist. Every change is recorded in the audit log under the operator's name.
 */
export type Operator = Bound<typeof METHODS> & {
  /** Changes to users' factors that need two operators. */
  readonly consents: Bound<typeof CONSENT_METHODS>
  /** The endpoints to which events of applications are posted. */
  readonly events: Bound<typeof EVENT_METHODS>
}

/** The parts that an operator may be given besides the store. Without keys, webhooks cannot be set and users cannot be listed, exported and erased. */
export type OperatorParts = Partial<Omit<Actor, 'store' | 'name' | 'asker'>>

/** The operator called `name`, on a store. */
export function operator(store: Store, name: string, parts: OperatorParts = {}): Operator {
  const {
    onApplicationChanged = () => {},
    homeCountry,
    defaults,
    keys = refuseWithoutKeys,
    fourEyes = false,
  } = parts
  const actor: Actor = { store, name, keys, homeCountry, defaults, onApplicationChanged, fourEyes }
  return {
    ...bound(METHODS, actor),
    consents: bound(CONSENT_METHODS, actor),
    events: bound(EVENT_METHODS, actor),
  }
}

function refuseWithoutKeys(): never {
  throw new OperatorError('The secret of the service is missing.')
}

interface AppliedMigration {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly appliedAt: number
}

/** The applied migrations, in order. */
export function listMigrations(store: Store): Promise<AppliedMigration[]> {
  return store.query<AppliedMigration>('SELECT name, applied_at AS "appliedAt" FROM migration ORDER BY name')
}

/** Records in the audit log which migrations the operator has applied, if any. */
export async function recordMigrations(actor: Actor, applied: readonly AppliedMigration[]): Promise<void> {
  if (applied.length === 0) return
  const detail = applied.map(({ name }) => name).join(', ')
  await changeWithAudit(actor, async (_tx, record) => record({ action: 'store.migrated', detail }))
}
