import { getPartition, parsePartition } from '../store/partition.js'
import { accountReference } from '../store/secrets/keys.js'
import { createStoreWithin, queryOne } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import {
  auditOf,
  type ConsentAction,
  type ConsentReference,
  type ConsentRow,
  describeAction,
  insertRequest,
  isAboutOperator,
  listDeciders,
  listRoles,
  type OperatorAction,
  openRequests,
  showTarget,
  takeConsented,
  takeRefused,
  type UserAction,
} from './consent-request.js'
import { CONSOLE_APPLICATION, findOperator } from './operator-account.js'
import { changeRole, unknownOperator } from './operator-accounts.js'
import { checkInvited, inviteWithLink, newLink, resetWithLink } from './operator-invitations.js'
import { hasSecondAdmin, readPersons } from './operator-relations.js'
import { checkRole, type Role } from './rights.js'
import { eraseUser } from './user-data.js'
import {
  createUserReference,
  disableFactor,
  maskUser,
  readAccount,
  readFactor,
  removeUserKey,
  type UserReference,
  unknownKey,
  unknownUser,
} from './users.js'

/** A change that an operator asks for. */
export interface NewConsent {
  readonly action: UserAction
  /** The factor as for `disableFactor`, or the id of the key; empty for an erasure. */
  readonly target: string
}

/** A change that waits for a second operator. Times in milliseconds since 1970. */
export interface ConsentRequest extends ConsentReference {
  readonly action: ConsentAction
  /** The account, masked if it is a contact; the email address of an operator. */
  readonly user: string
  /** The factor, key or role; a contact is masked. */
  readonly target: string
  readonly askedBy: string
  readonly askedAt: number
  readonly expiresAt: number
  /** The roles that can decide. */
  readonly roles: readonly Role[]
  /** The email addresses of the operators who can consent to it now. */
  readonly deciders: readonly string[]
}

async function askConsent(actor: Actor, user: UserReference, { action, target }: NewConsent) {
  if (action === 'disable-factor') readFactor(target)
  const application = getPartition(user)
  const account = readAccount(user)
  const reference = accountReference(actor.keys(), application, account)
  const id = await changeWithAudit(actor, async (tx, record) => {
    await mustExist(tx, user.application)
    const asked = await insertRequest(tx, actor, { application, account, action, target, invitation: null })
    const known = 'SELECT FROM account WHERE application = $1 AND account = $2'
    if (!(await queryOne(tx, known, [application, account]))) throw unknownUser(user)
    if (action === 'remove-key') {
      const key = 'SELECT FROM account_key WHERE application = $1 AND account = $2 AND id = $3'
      if (!(await queryOne(tx, key, [application, account, target]))) throw unknownKey(user)
    }
    const detail = `${asked} ${describeAction({ action, target })} of account ${reference}`
    record({ application: user.application, action: 'consent.asked', detail })
    return asked
  })
  return { id }
}

async function listConsents({ store }: Actor): Promise<ConsentRequest[]> {
  const rows = await openRequests(store)
  const whyOnePerson = await readPersons(store)
  return Promise.all(
    rows.map(async (row) => ({
      ...parsePartition(row.application),
      id: row.id,
      action: row.action,
      user: isAboutOperator(row) ? row.account : maskUser(createUserReference(row.application, row.account)),
      target: showTarget(row),
      askedBy: row.asked_by,
      askedAt: row.asked_at,
      expiresAt: row.expires_at,
      roles: listRoles(row.action),
      deciders: await listDeciders(store, row, whyOnePerson),
    })),
  )
}

async function giveConsent(actor: Actor, reference: ConsentReference): Promise<void> {
  await changeWithAudit(actor, async (tx, record) => {
    const row = await takeConsented(tx, reference, actor.name)
    // The change is part of this transaction: it is made if, and only if, the request is used up.
    await makeChange({ ...actor, store: createStoreWithin(tx, actor.store), asker: row.asked_by }, row)
    record({ ...createEntry(row), action: 'consent.given' })
  })
}

async function refuseConsent(actor: Actor, reference: ConsentReference): Promise<void> {
  await changeWithAudit(actor, async (tx, record) => {
    const row = await takeRefused(tx, reference, actor.name)
    const action = row.asked_by === actor.name ? 'consent.withdrawn' : 'consent.refused'
    record({ ...createEntry(row), action })
  })
}

function createEntry(row: ConsentRow) {
  const { application, detail } = auditOf(row)
  return { application, detail: `${detail}, asked by ${row.asked_by}` }
}

async function makeChange(actor: Actor, row: ConsentRow): Promise<unknown> {
  if (isAboutOperator(row)) return makeOperatorChange(actor, row)
  const user = createUserReference(row.application, row.account)
  if (row.action === 'disable-factor') return disableFactor(actor, user, row.target)
  return row.action === 'remove-key' ? removeUserKey(actor, user, row.target) : eraseUser(actor, user)
}

/** A change to an operator that an administrator asks for. */
export interface NewOperatorConsent {
  readonly action: OperatorAction
  /** The email address of the operator. */
  readonly email: string
  /** The new role. Defaults, for an invitation, to the one that they have, or `viewer`. */
  readonly role?: Role | undefined
}

/** A request for a change to an operator. */
export interface AskedOperatorConsent {
  readonly id: string
  /** The last part of the link, which is valid from the consent on; absent for a change of a role. It is stored as a hash only. */
  readonly token?: string
}

async function askOperatorConsent(
  actor: Actor,
  { action, email: given, role }: NewOperatorConsent,
): Promise<AskedOperatorConsent> {
  const email = checkInvited({ email: given, role })
  if (email === actor.name) throw new OperatorError('Another administrator must change your own account.')
  if (action === 'change-role') checkRole(role ?? '')
  const link = action === 'change-role' ? undefined : newLink()
  const request = {
    ...{ application: CONSOLE_APPLICATION, account: email, action, target: role ?? '' },
    invitation: link?.hash ?? null,
  }
  const id = await changeWithAudit(actor, async (tx, record) => {
    if (action !== 'invite-operator' && !(await findOperator(tx, email))) throw unknownOperator(email)
    const asked = await insertRequest(tx, actor, request)
    record({ ...auditOf({ ...request, id: asked }), action: 'consent.asked' })
    return asked
  })
  return { id, ...(link && { token: link.token }) }
}

async function makeOperatorChange(actor: Actor, { account: email, action, target, invitation }: ConsentRow) {
  const role = target === '' ? undefined : target
  if (role !== undefined) checkRole(role)
  if (action === 'change-role' && role) return changeRole(actor, email, role)
  if (invitation === null) throw new OperatorError('This request has no link: ask for a new one.')
  if (action === 'reset-operator') await resetWithLink(actor, email, invitation)
  else await inviteWithLink(actor, { email, role, unlessActive: true }, invitation)
}

/**
 * Changes that need two operators of the console: one asks, another consents within an hour. Operators who count as one person do not
 * consent to each other's requests. They go by the accounts of the console, so `operator(name)` needs the email address of one.
 */
export const CONSENT_METHODS = {
  /** Asks for a change. Throws an `OperatorError` when the user is unknown, the factor is not one, or this operator has not the role for it. */
  ask: askConsent,
  /**
   * Asks for a new operator, a new role or a reset. The link becomes valid when another administrator consents. Throws an
   * `OperatorError` when the operator is unknown, or this one is no administrator.
   */
  askOperatorChange: askOperatorConsent,
  /** Whether there are two administrators who are not one person, so that neither invites operators or gives links or roles alone. */
  hasSecondAdmin,
  /** Lists the requests that wait for consent, the oldest first, each with the operators who can consent. */
  list: listConsents,
  /**
   * Consents to a request and makes its change, in one transaction. Throws an `OperatorError` when it was decided already or has
   * expired, and when this operator asked for it, is one person with the one who asked, or has not the role for it.
   */
  give: giveConsent,
  /** Refuses a request, or withdraws one of one's own. Throws an `OperatorError` when it was decided already or has expired. */
  refuse: refuseConsent,
}
