import { type Html, html } from '../../html.js'
import type { AskedOperatorConsent } from '../../operator/consents.js'
import { canonicalEmail, type OperatorSummary } from '../../operator/operator-account.js'
import type { Invitation } from '../../operator/operator-invitations.js'
import { ROLES, type Role } from '../../operator/rights.js'
import { attempt, attemptToFind } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, cardTable, renderTime, timeCell } from '../parts.js'
import { ASKED, warnOfOnePerson } from './consents.js'

const PATH = '/console/operators'

/** The accounts of the operators themselves. */
export const OPERATOR_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'admin', handle: (request) => operatorsPage(request) },
  { method: 'post', path: `${PATH}/invite`, least: 'admin', stepUp: true, handle: invite },
  { method: 'post', path: `${PATH}/revoke`, least: 'admin', stepUp: true, handle: revoke },
  { method: 'post', path: `${PATH}/role`, least: 'admin', stepUp: true, handle: changeRole },
  { method: 'post', path: `${PATH}/sessions`, least: 'admin', stepUp: true, handle: endSessions },
  { method: 'post', path: `${PATH}/reset`, least: 'admin', stepUp: true, handle: reset },
  { method: 'post', path: `${PATH}/disable`, least: 'admin', stepUp: true, handle: disable },
]

function invite(request: PageRequest): Promise<Reply> {
  const { operator } = request
  // An operator keeps their role if the form names none.
  const role = (request.form.text('role') || undefined) as Role | undefined
  const invited = { email: request.form.text('email'), role }
  return showLink(request, {
    make: () => operator.inviteOperator({ ...invited, unlessActive: true }),
    ask: () => operator.consents.askOperatorChange({ action: 'invite-operator', ...invited }),
  })
}

function reset(request: PageRequest): Promise<Reply> {
  const { operator } = request
  const email = request.form.text('email')
  return showLink(request, {
    make: () => operator.resetOperator(email),
    ask: () => operator.consents.askOperatorChange({ action: 'reset-operator', email }),
  })
}

function revoke(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  const done = `The invitation of ${email} is revoked.`
  return change(request, done, () => request.operator.revokeInvitation(email))
}

async function changeRole(request: PageRequest): Promise<Reply> {
  const { operator } = request
  const email = request.form.text('email')
  const role = request.form.text('role') as Role
  if (await needsConsent(request)) {
    return change(request, ASKED, () =>
      operator.consents.askOperatorChange({ action: 'change-role', email, role }),
    )
  }
  return change(request, `${email} is ${role} now.`, () => operator.changeRole(email, role))
}

function endSessions(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  return change(request, `All sessions of ${email} have ended.`, () =>
    request.operator.endOperatorSessions(email),
  )
}

function disable(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  return change(request, `The account of ${email} is disabled, and its sessions have ended.`, () =>
    request.operator.disableOperator(email),
  )
}

/** Whether another administrator has to consent to what hands over a role or a link. */
async function needsConsent({ parts, operator }: PageRequest): Promise<boolean> {
  return parts.fourEyes && (await operator.consents.hasSecondAdmin())
}

const OWN_ACCOUNT = { tone: 'error', text: 'Another administrator must change your own account.' } as const

function isOwn({ form, account }: PageRequest): boolean {
  return canonicalEmail(form.text('email')) === account.email
}

async function change(request: PageRequest, done: string, work: () => Promise<unknown>): Promise<Reply> {
  if (isOwn(request)) return operatorsPage(request, OWN_ACCOUNT)
  return operatorsPage(request, await attempt(work, done))
}

const WITHOUT_ADDRESS = {
  tone: 'error',
  text: 'The console does not know its own address, so it cannot make a link: set SERVICE_CONSOLE_URL (console.url) to it, such as https://mfa.example, and start the service again.',
} as const

const COPY_LINK = 'Copy the link now. It is stored as a hash only, and is not shown again.'

/** Makes a new invitation, or asks for it where it needs a second administrator, and shows its link once. */
async function showLink(
  request: PageRequest,
  link: { readonly make: () => Promise<Invitation>; readonly ask: () => Promise<AskedOperatorConsent> },
): Promise<Reply> {
  const { parts, form } = request
  if (isOwn(request)) return operatorsPage(request, OWN_ACCOUNT)
  // A request can name any host, and the link makes its holder an operator (R140).
  if (parts.url === undefined) return operatorsPage(request, WITHOUT_ADDRESS)
  const isAsked = await needsConsent(request)
  const work = isAsked ? link.ask : link.make
  const { found, message } = await attemptToFind<AskedOperatorConsent | Invitation>(work)
  if (!found?.token) return operatorsPage(request, message)
  return {
    title: 'Invitation',
    section: 'operators',
    message: { tone: 'success', text: isAsked ? ASKED : COPY_LINK },
    main: html`${isAsked && html`<p>${COPY_LINK} It is not valid before the consent.</p>`}
<p>Send this link to ${form.text('email')} only: its holder becomes this operator. It is valid once, for 24 hours${isAsked && ' from the consent on'}.</p>
<code class="once">${parts.url}/console/invitation/${found.token}</code>
<p><a href="${PATH}">Back to the operators</a></p>`,
  }
}

async function operatorsPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { operator, account, form, parts } = request
  const operators = await operator.listOperators()
  return {
    title: 'Operators',
    section: 'operators',
    message,
    main: html`${await warnOfOnePerson(request)}
${cardTable(
  'Operators',
  ['Email address', 'Role', 'State', 'Second factors', 'Last sign-in', 'Change'],
  operators.map((listed) => [
    html`${listed.email}${parts.fourEyes && renderSamePerson(listed)}`,
    listed.role,
    stateOf(listed),
    listed.isExternal
      ? 'at the identity provider'
      : listed.factors.map((method) => FACTOR_NAMES[method]).join(', ') || null,
    timeCell(listed.signedInAt),
    listed.email === account.email ? 'your own account' : actions(listed),
  ]),
  'There are no operators.',
)}
<h2>Invite an operator</h2>
<p class="note">The next page shows a link that is valid once, for 24 hours. Its holder chooses a password and sets up a second factor.
Whom you invite, reset or promote counts as one person with you where two operators are needed.</p>
<form class="form" method="post" action="${PATH}/invite">
<div class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" required maxlength="320" autocomplete="off" value="${message?.tone === 'error' && form.text('email')}"></div>
<fieldset><legend>Role</legend><div class="checks">
${ROLES.map((role, at) => html`<label><input type="radio" name="role" value="${role}"${at === 0 && html` checked`}> ${ROLE_NAMES[role]}</label>`)}</div></fieldset>
<button class="mfa-primary">Invite</button></form>`,
  }
}

const MAX_NAMED = 3

/** With whom an operator counts as one person, so that they do not consent to each other's requests. */
function renderSamePerson({ samePersonAs }: OperatorSummary): Html | false {
  if (samePersonAs.length === 0) return false
  const more = samePersonAs.length - MAX_NAMED
  const named = samePersonAs.slice(0, MAX_NAMED).join(', ')
  return html`<br><span class="mfa-hint">one person with ${named}${more > 0 && ` and ${more} more`}</span>`
}

const FACTOR_NAMES = {
  app: 'authenticator app',
  'security-key': 'security key',
  passkey: 'passkey',
} as const

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  viewer: 'viewer: reads',
  support: 'support: helps users',
  admin: 'admin: changes everything',
}

function stateOf({ state, invitedUntil }: OperatorSummary): Html {
  const badge = html`<span class="badge${state === 'active' && ' badge-good'}${state === 'disabled' && ' badge-bad'}">${state}</span>`
  if (invitedUntil !== null) return html`${badge} until ${renderTime(invitedUntil)}`
  return state === 'invited' ? html`${badge} link has expired` : badge
}

/** The forms for an operator, which stay closed until they are needed. */
function actions(listed: OperatorSummary): Html {
  const { email, role, state, invitedUntil, isExternal } = listed
  const button = (action: string, label: string) => buttonForm(`${PATH}/${action}`, label, { email })
  const roles = html`<form class="form-row" method="post" action="${PATH}/role">
<input type="hidden" name="email" value="${email}">
<select name="role" aria-label="Role of ${email}">
${ROLES.map((name) => html`<option${name === role && html` selected`}>${name}</option>`)}
</select> <button class="small-button">Change role</button></form>`
  return html`<details><summary>Change<span class="hidden"> ${email}</span></summary><div class="actions">
${state !== 'disabled' && !isExternal && roles}
${state === 'active' && button('sessions', 'End all sessions')}
${state === 'active' && !isExternal && button('reset', 'Reset password and second factors')}
${state !== 'active' && !isExternal && button('invite', state === 'disabled' ? 'Enable with a new invitation' : 'New link')}
${invitedUntil !== null && button('revoke', 'Revoke the invitation')}
${state !== 'disabled' && button('disable', 'Disable')}
</div></details>`
}
