import { type Html, html } from '../../http/html-page.js'
import type { OperatorSummary } from '../../operator/operator-account.js'
import type { Invitation } from '../../operator/operator-invitations.js'
import { ROLES, type Role } from '../../operator/role.js'
import { attempt, withMessage } from '../attempt.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { cardTable, timeCell, timeOf } from '../table.js'

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
  const email = request.form.text('email')
  const role = roleIn(request)
  return showLink(request, email, () =>
    request.operator.inviteOperator({ email, unlessActive: true, ...(role && { role }) }),
  )
}

function reset(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  return showLink(request, email, () => request.operator.resetOperator(email))
}

function revoke(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  const done = `The invitation of ${email} is revoked.`
  return change(request, done, () => request.operator.revokeInvitation(email))
}

function changeRole(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  const role = request.form.text('role')
  return change(request, `${email} is ${role} now.`, () => request.operator.changeRole(email, role as Role))
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

/** The role of a form; the role that the operator has if the form names none. */
function roleIn({ form }: PageRequest): Role | undefined {
  const role = form.text('role')
  return role === '' ? undefined : (role as Role)
}

const OWN_ACCOUNT = { tone: 'error', text: 'Another administrator must change your own account.' } as const

function isOwn({ form, account }: PageRequest): boolean {
  return form.text('email').toLowerCase() === account.email
}

async function change(request: PageRequest, done: string, work: () => Promise<void>): Promise<Reply> {
  if (isOwn(request)) return operatorsPage(request, OWN_ACCOUNT)
  return operatorsPage(request, await attempt(work, done))
}

/** Shows the link of a new invitation once. */
async function showLink(
  request: PageRequest,
  email: string,
  work: () => Promise<Invitation>,
): Promise<Reply> {
  if (isOwn(request)) return operatorsPage(request, OWN_ACCOUNT)
  let invitation: Invitation | undefined
  const message = await attempt(async () => {
    invitation = await work()
  }, 'Copy the link now. It is stored as a hash only, and is not shown again.')
  if (!invitation) return operatorsPage(request, message)
  const { protocol, host } = request.request
  const base = request.parts.url ?? `${protocol}://${host}`
  return {
    title: 'Invitation',
    section: 'operators',
    message,
    main: html`<p>Send this link to ${email} only: its holder becomes this operator. It is valid once, until ${timeOf(invitation.expiresAt)}.</p>
<code class="once">${base}/console/invitation/${invitation.token}</code>
<p><a href="${PATH}">Back to the operators</a></p>`,
  }
}

async function operatorsPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { operator, account, form } = request
  const operators = await operator.listOperators()
  return {
    title: 'Operators',
    section: 'operators',
    ...withMessage(message),
    main: html`${cardTable(
      'Operators',
      ['Email address', 'Role', 'State', 'Second factors', 'Last sign-in', 'Change'],
      operators.map((one) => [
        one.email,
        one.role,
        stateOf(one),
        one.factors.map((method) => FACTOR_NAMES[method]).join(', ') || null,
        timeCell(one.signedInAt),
        one.email === account.email ? 'your own account' : actions(one),
      ]),
      'There are no operators.',
    )}
<h2>Invite an operator</h2>
<p class="note">The next page shows a link that is valid once, for 24 hours. Its holder chooses a password and sets up a second factor.</p>
<form class="form" method="post" action="${PATH}/invite">
<div class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" required maxlength="320" autocomplete="off" value="${message?.tone === 'error' && form.text('email')}"></div>
<fieldset><legend>Role</legend><div class="checks">
${ROLES.map((role, at) => html`<label><input type="radio" name="role" value="${role}"${at === 0 && html` checked`}> ${ROLE_NAMES[role]}</label>`)}</div></fieldset>
<button class="mfa-primary">Invite</button></form>`,
  }
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
  if (invitedUntil !== null) return html`${badge} until ${timeOf(invitedUntil)}`
  return state === 'invited' ? html`${badge} link has expired` : badge
}

/** The forms for an operator, which stay closed until they are needed. */
function actions(one: OperatorSummary): Html {
  const { email, role, state, invitedUntil } = one
  const button = (action: string, label: string) => html`<form method="post" action="${PATH}/${action}">
<input type="hidden" name="email" value="${email}"><button class="small-button">${label}</button></form>`
  const roles = html`<form class="form-row" method="post" action="${PATH}/role">
<input type="hidden" name="email" value="${email}">
<select name="role" aria-label="Role of ${email}">
${ROLES.map((name) => html`<option${name === role && html` selected`}>${name}</option>`)}
</select> <button class="small-button">Change role</button></form>`
  return html`<details><summary>Change<span class="hidden"> ${email}</span></summary><div class="actions">
${state !== 'disabled' && roles}
${state === 'active' && button('sessions', 'End all sessions')}
${state === 'active' && button('reset', 'Reset password and second factors')}
${state !== 'active' && button('invite', state === 'disabled' ? 'Enable with a new invitation' : 'New link')}
${invitedUntil !== null && button('revoke', 'Revoke the invitation')}
${state !== 'disabled' && button('disable', 'Disable')}
</div></details>`
}
