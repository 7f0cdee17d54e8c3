import type { Key } from 'countersign/protocol'
import type { LockedOut } from '../accounts/account-factors.js'
import type { AccountExport } from '../accounts/export-schema.js'
import type { Mode } from '../application.js'
import type { ApplicationSettings } from '../applications/settings.js'
import type { InboxMessage } from '../carriers/inbox.js'
import type { Store } from '../store/store.js'
import { type ActivityFilter, type ActivityReport, showActivity } from './activity.js'
import { createKey, type KeySummary, listKeys, revokeKey } from './api-keys.js'
import {
  type NewWebhook,
  removeWebhook,
  rotateWebhookSecret,
  setWebhook,
  showWebhook,
  type WebhookSummary,
} from './application-webhooks.js'
import {
  changeSettings,
  createApplication,
  type Setting,
  type SettingsChange,
  showSettings,
  usersLockedOutBy,
} from './applications.js'
import { type ApprovalOperator, approvalOperator } from './approvals.js'
import { type AuditEntry, type AuditFilter, listAudit } from './audit-log.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'
import { type DeliveryFilter, type DeliverySummary, type QueueState, showQueue } from './deliveries.js'
import { type EventOperator, eventOperator } from './event-operator.js'
import { type FactorImport, type ImportReport, importFactorsOf } from './import-factors.js'
import {
  type ApplicationFilter,
  type ApplicationPage,
  type ApplicationSummary,
  listApplications,
  searchApplications,
} from './list-applications.js'
import { liftComplaint, listComplaints, type MailComplaint } from './mail-complaints.js'
import {
  type InboxFilter,
  listInbox,
  type MessageFilter,
  type MessagePage,
  type MessageReference,
  retryMessage,
  searchMessages,
  showMessage,
} from './messages.js'
import type { OperatorAccount, OperatorSummary } from './operator-account.js'
import { changeRole, disableOperator, endOperatorSessions, listOperators } from './operator-accounts.js'
import {
  acceptInvitation,
  type Invitation,
  type Invited,
  inviteOperator,
  type Reset,
  resetOperator,
  revokeInvitation,
} from './operator-invitations.js'
import { hasSecondAdmin } from './operator-relations.js'
import { type PhoneTrafficSummary, pauseTraffic, resumeTraffic, showTraffic } from './phone-traffic.js'
import { previewTexts, type TextPreview } from './preview-texts.js'
import { eraseUser, exportUser, listUsers, type Role, type UserFilter } from './rights.js'
import { type OwnFactorChange, recordOwnFactor, recordSignIn } from './sign-ins.js'
import { type ErasedUser, type TimelineEntry, type UserPage, userTimeline } from './user-data.js'
import { listUserKeys, removeUserKey } from './user-keys.js'
import {
  type DisabledFactor,
  disableFactor,
  showUser,
  type UserReference,
  type UserState,
  unlockUser,
} from './users.js'

/**
 * Everything that an operator can do, for a command line or for pages. No method prints anything or asks for input. A
 * method that cannot do what was requested throws an `OperatorError`; one that names an application throws it when the
 * application does not exist. Every change is recorded in the audit log under the operator's name.
 */
export interface Operator {
  /**
   * Creates an application. Its name has 1 to 40 lowercase letters, digits and dashes; `settings` defaults to none, except
   * that `countries` is the service's `homeCountry`, if it has one.
   * Throws an `OperatorError` when the name is invalid or taken.
   */
  createApplication(application: string, settings?: ApplicationSettings): Promise<void>
  /** Lists all applications by name, with the number of their valid keys. */
  listApplications(): Promise<ApplicationSummary[]>
  /** Finds applications by a part of their name, a page at a time, with the number of their valid keys. */
  searchApplications(filter: ApplicationFilter): Promise<ApplicationPage>
  /** Lists every setting of an application with its value, and whether it is set. */
  showSettings(application: string): Promise<Setting[]>
  /**
   * Sets some settings of an application and returns others to their defaults. The change takes effect immediately in
   * this process, and within a second in all others. With `seen`, throws an `OperatorError` when another operator has
   * changed one of these values in the meantime. Throws one, too, when the change would withhold the only factors of users (R132),
   * unless `lockOut` says that this is meant.
   */
  changeSettings(application: string, changes: Partial<SettingsChange>): Promise<void>
  /**
   * Counts the users whose only factors a change would withhold: the service offers these no more, and their logins stay pending. Such
   * users have nothing but keys, as far as the service knows.
   */
  usersLockedOutBy(
    application: string,
    changes: Partial<Pick<SettingsChange, 'set' | 'unset'>>,
  ): Promise<readonly LockedOut[]>
  /** Shows an application's messages with a code, in a language such as `de`, exactly as they are sent. */
  previewTexts(application: string, language: string): Promise<TextPreview[]>
  /** Shows the webhook of an application without its secret; `undefined` when it has none. */
  showWebhook(application: string): Promise<WebhookSummary | undefined>
  /**
   * Delivers an application's messages of some channels to a webhook of its own, instead of to the carriers of the service.
   * The `secret` that signs its requests is returned once, when the webhook is created; later changes keep it. Throws an
   * `OperatorError` that lists everything that is wrong with the address and the channels.
   */
  setWebhook(application: string, webhook: NewWebhook): Promise<{ readonly secret?: string }>
  /**
   * Replaces the secret of an application's webhook, and returns the new one this once. For 24 hours, requests are signed with
   * both. Throws an `OperatorError` when the application has no webhook.
   */
  rotateWebhookSecret(application: string): Promise<{ readonly secret: string }>
  /** Removes the webhook of an application. Throws an `OperatorError` when it has none. */
  removeWebhook(application: string): Promise<void>
  /** Changes to users' factors that need two operators. */
  readonly approvals: ApprovalOperator
  /** The endpoints to which events of applications are posted. */
  readonly events: EventOperator
  /**
   * Creates an API key for an application. The key is returned this once and stored only as a hash. `label`, at most 80
   * characters, defaults to none. Throws an `OperatorError` when the label is invalid.
   */
  createKey(
    application: string,
    options: { readonly mode: Mode; readonly label?: string | undefined },
  ): Promise<{ readonly id: string; readonly key: string }>
  /** Lists all keys of an application, revoked ones included, newest first. */
  listKeys(application: string): Promise<KeySummary[]>
  /**
   * Revokes a key for good: immediately in this process, within a second in all others. Throws an `OperatorError` when
   * the application has no valid key with this id.
   */
  revokeKey(application: string, id: string): Promise<void>
  /**
   * Shows an account's lock, factors and failures, with masked contacts. Throws an `OperatorError` when the account is
   * unknown.
   */
  showUser(user: UserReference): Promise<UserState>
  /** Lists the latest challenges, messages and wrong codes of an account, newest first, without codes and contacts. */
  userTimeline(user: UserReference): Promise<TimelineEntry[]>
  /** Unlocks an account; disabled factors stay disabled. Throws an `OperatorError` when the account is not locked. */
  unlockUser(user: UserReference): Promise<void>
  /**
   * Disables a factor of an account until it is bound again: `app`, `backup`, or a contact such as `+447700900123`.
   * Throws an `OperatorError` when the account is unknown or the factor is not one of these.
   */
  disableFactor(user: UserReference, factor: string): Promise<DisabledFactor>
  /** Lists the security keys and passkeys of an account, in the order in which they were registered. */
  listUserKeys(user: UserReference): Promise<readonly Key[]>
  /**
   * Removes a security key or passkey of an account. No notice is sent. Throws an `OperatorError` when the account has no key
   * with this id.
   */
  removeUserKey(user: UserReference, key: string): Promise<void>
  /**
   * Lists the accounts of an application in the order of their names, a page at a time, with masked contacts. Throws an
   * `OperatorError` when `after` is not the `next` of an earlier page.
   */
  listUsers(filter: UserFilter): Promise<UserPage>
  /**
   * Exports everything that is stored about an account, without secrets and codes. Throws an `OperatorError` when the
   * account is unknown.
   */
  exportUser(user: UserReference): Promise<AccountExport>
  /**
   * Deletes everything that is stored about an account, its locks and failures included. The audit log keeps a keyed hash.
   * An unknown account is no error, so that the call can be repeated.
   */
  eraseUser(user: UserReference): Promise<ErasedUser>
  /**
   * Adds authenticator apps and backup codes of another system. An account that has an app keeps it. A second run with the same
   * file adds only what is missing, so an import that was interrupted is simply run again. Rows that cannot be imported are in
   * the report; everything else throws an `OperatorError`.
   */
  importFactors(given: FactorImport): Promise<ImportReport>
  /** Lists the countries and prefixes to whose phones an application sends codes, those with the most untyped codes first. */
  showTraffic(application: string): Promise<PhoneTrafficSummary[]>
  /**
   * Pauses the messages of an application to a country (`GB`) or prefix (`+44770090`), with immediate effect. Throws an
   * `OperatorError` when the destination is neither, or is paused already.
   */
  pauseTraffic(application: string, destination: string): Promise<void>
  /**
   * Ends the pause of a country or prefix; its sent and typed codes are counted anew. Throws an `OperatorError` when it is not
   * paused.
   */
  resumeTraffic(application: string, destination: string): Promise<void>
  /** Shows what was sent and typed in a period, by step, method, country and carrier. Test keys do not count. */
  showActivity(filter: ActivityFilter): Promise<ActivityReport>
  /** Counts the messages that wait to be delivered, of all applications. */
  showQueue(): Promise<QueueState>
  /** Lists the mailboxes that get no more mail of an application because their owners reported it as spam: the latest 200. */
  listComplaints(application: string): Promise<MailComplaint[]>
  /**
   * Lets a mailbox get mail of an application again, after its owner reported one as spam. Throws an `OperatorError` when no
   * complaint of it is stored.
   */
  liftComplaint(application: string, mailbox: string): Promise<void>
  /** Lists the latest messages of an application with their delivery state, newest first. */
  listDeliveries(filter: DeliveryFilter): Promise<DeliverySummary[]>
  /** Lists the latest messages in the inbox of an application, newest first, with their contacts and codes. */
  listInbox(filter: InboxFilter): Promise<InboxMessage[]>
  /**
   * Finds messages of an application by state, channel, carrier, time, account or exact contact, newest first, a page at a time.
   * Throws an `OperatorError` when `contact` is not one contact, or `after` not the `next` of an earlier page.
   */
  searchMessages(filter: MessageFilter): Promise<MessagePage>
  /** Shows one message. Throws an `OperatorError` when the application has none with this id. */
  showMessage(message: MessageReference): Promise<DeliverySummary>
  /**
   * Lets a message that waits for its next attempt be delivered now. Throws an `OperatorError` when it does not wait for longer
   * than 15 seconds.
   */
  retryMessage(message: MessageReference): Promise<void>
  /** Lists the latest changes in the audit log, newest first. */
  listAudit(filter: AuditFilter): Promise<AuditEntry[]>
  /**
   * Invites a person to the console and returns the token of the link, which is valid once, for 24 hours. `role` defaults to
   * `viewer`, or to the role that they have. For an operator who has an account, the link replaces password and second factor;
   * with `unlessActive`, throws an `OperatorError` then.
   */
  inviteOperator(invited: Invited): Promise<Invitation>
  /** Makes the link of an invitation void. Throws an `OperatorError` when there is no open one. */
  revokeInvitation(email: string): Promise<void>
  /**
   * Ends an operator's password, second factors and sessions at once, and returns the token of a new invitation. With
   * `independent`, the account no longer counts as one person with those who invited or changed it. Throws an `OperatorError` when
   * they are the only administrator who can sign in.
   */
  resetOperator(email: string, reset?: Reset): Promise<Invitation>
  /**
   * Sets the password of the invited operator, who must set up a second factor within an hour. Throws an `OperatorError`
   * when the invitation is not valid or the password is too weak.
   */
  acceptInvitation(token: string, password: string): Promise<OperatorAccount>
  /** Notes that this operator has added or removed a second factor of the console. */
  recordOwnFactor(change: OwnFactorChange): Promise<void>
  /** Notes that this operator has signed in to the console with both factors. */
  recordSignIn(): Promise<void>
  /** Lists the operators of the console by email address. */
  listOperators(): Promise<OperatorSummary[]>
  /**
   * Gives an operator another role, with effect on their next request. Throws an `OperatorError` when they are the only
   * administrator who can sign in.
   */
  changeRole(email: string, role: Role): Promise<void>
  /**
   * Disables an operator's account and ends their sessions. A new invitation enables it again. Throws an `OperatorError` when
   * they are the only administrator who can sign in.
   */
  disableOperator(email: string): Promise<void>
  /** Ends all sessions of an operator, who can sign in again. */
  endOperatorSessions(email: string): Promise<void>
}

/** What an operator may be given besides the store. */
export interface OperatorParts {
  /** Is called after every change to an application. */
  readonly onApplicationChanged?: Actor['onApplicationChanged']
  /** The country whose phone numbers a new application serves. */
  readonly homeCountry?: string | undefined
  /** The option `relyingParty` of the service. Defaults to `null`, not known: then the application `default` may have one. */
  readonly relyingParty?: Actor['relyingParty']
  /** The keys of the service, without which webhooks cannot be set and users cannot be listed, exported and erased. */
  readonly keys?: Actor['keys']
  /**
   * Whether factors are disabled, keys removed, users erased and factors imported only with the approval of a second operator, and operators invited,
   * reset and given roles only with that of a second administrator, if there is one. Defaults to `false`.
   */
  readonly fourEyes?: boolean | undefined
}

/** The operator called `name`, on a store. */
export function operator(store: Store, name: string, parts: OperatorParts = {}): Operator {
  const { onApplicationChanged = () => {}, homeCountry, keys = withoutKeys, fourEyes = false } = parts
  const relyingParty = 'relyingParty' in parts ? parts.relyingParty : null
  const actor: Actor = { store, name, keys, homeCountry, relyingParty, onApplicationChanged }
  async function alone<T>(work: () => Promise<T>): Promise<T> {
    if (fourEyes) throw new OperatorError('This needs a second operator: ask for approval.')
    return work()
  }
  async function withoutSecondAdmin<T>(work: () => Promise<T>): Promise<T> {
    if (fourEyes && (await hasSecondAdmin(store))) {
      throw new OperatorError('This needs a second administrator: ask for approval.')
    }
    return work()
  }
  return {
    createApplication: (application, settings = {}) => createApplication(actor, application, settings),
    listApplications: () => listApplications(actor),
    searchApplications: (filter) => searchApplications(actor, filter),
    showSettings: (application) => showSettings(actor, application),
    changeSettings: (application, { set = {}, unset = [], seen = new Map(), lockOut = false }) =>
      changeSettings(actor, application, { set, unset, seen, lockOut }),
    usersLockedOutBy: (application, { set = {}, unset = [] }) =>
      usersLockedOutBy(actor, application, { set, unset }),
    previewTexts: (application, language) => previewTexts(actor, application, language),
    showWebhook: (application) => showWebhook(actor, application),
    setWebhook: (application, webhook) => setWebhook(actor, application, webhook),
    rotateWebhookSecret: (application) => rotateWebhookSecret(actor, application),
    removeWebhook: (application) => removeWebhook(actor, application),
    approvals: approvalOperator(actor),
    events: eventOperator(actor),
    createKey: (application, { mode, label = '' }) => createKey(actor, application, { mode, label }),
    listKeys: (application) => listKeys(actor, application),
    revokeKey: (application, id) => revokeKey(actor, application, id),
    showUser: (user) => showUser(actor, user),
    userTimeline: (user) => userTimeline(actor, user),
    unlockUser: (user) => unlockUser(actor, user),
    disableFactor: (user, factor) => alone(() => disableFactor(actor, user, factor)),
    listUserKeys: (user) => listUserKeys(actor, user),
    removeUserKey: (user, key) => alone(() => removeUserKey(actor, user, key)),
    listUsers: (filter) => listUsers(actor, filter),
    exportUser: (user) => exportUser(actor, user),
    eraseUser: (user) => alone(() => eraseUser(actor, user)),
    importFactors: (given) => alone(() => importFactorsOf(actor, given)),
    showTraffic: (application) => showTraffic(actor, application),
    pauseTraffic: (application, destination) => pauseTraffic(actor, application, destination),
    resumeTraffic: (application, destination) => resumeTraffic(actor, application, destination),
    showActivity: (filter) => showActivity(actor, filter),
    showQueue: () => showQueue(actor),
    listComplaints: (application) => listComplaints(actor, application),
    liftComplaint: (application, mailbox) => liftComplaint(actor, application, mailbox),
    listInbox: (filter) => listInbox(actor, filter),
    listDeliveries: async (filter) => [...(await searchMessages(actor, filter)).messages],
    searchMessages: (filter) => searchMessages(actor, filter),
    showMessage: (message) => showMessage(actor, message),
    retryMessage: (message) => retryMessage(actor, message),
    listAudit: (filter) => listAudit(actor, filter),
    inviteOperator: (invited) => withoutSecondAdmin(() => inviteOperator(actor, invited)),
    revokeInvitation: (email) => revokeInvitation(actor, email),
    resetOperator: (email, reset) => withoutSecondAdmin(() => resetOperator(actor, email, reset)),
    acceptInvitation: (token, password) => acceptInvitation(actor, token, password),
    recordOwnFactor: (change) => recordOwnFactor(actor, change),
    recordSignIn: () => recordSignIn(actor),
    listOperators: () => listOperators(actor),
    changeRole: (email, role) => withoutSecondAdmin(() => changeRole(actor, email, role)),
    disableOperator: (email) => disableOperator(actor, email),
    endOperatorSessions: (email) => endOperatorSessions(actor, email),
  }
}

function withoutKeys(): never {
  throw new OperatorError('The secret of the service is missing.')
}

/** A migration that has been applied to the store. */
interface AppliedMigration {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly appliedAt: number
}

/** The applied migrations, in order. */
export async function listMigrations(store: Store): Promise<AppliedMigration[]> {
  const rows = await store.query<{ name: string; applied_at: number }>(
    'SELECT name, applied_at FROM migration ORDER BY name',
  )
  return rows.map((row) => ({ name: row.name, appliedAt: row.applied_at }))
}

/** Records in the audit log which migrations the operator has applied, if any. */
export async function recordMigrations(actor: Actor, applied: readonly AppliedMigration[]): Promise<void> {
  if (applied.length === 0) return
  const detail = applied.map(({ name }) => name).join(', ')
  await auditedChange(
    actor,
    async () => {},
    () => ({ application: '', action: 'store.migrated', detail }),
  )
}
