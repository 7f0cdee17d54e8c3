import { html } from '../../http/html-page.js'
import { ROLES, type Role } from '../../operator/role.js'
import { attempt, withMessage } from '../attempt.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { table, timeCell } from '../table.js'

const PATH = '/console/operators'

/** The accounts of the operators themselves. */
export const OPERATOR_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'admin', handle: (request) => operatorsPage(request) },
  { method: 'post', path: `${PATH}/role`, least: 'admin', stepUp: true, handle: changeRole },
  { method: 'post', path: `${PATH}/disable`, least: 'admin', stepUp: true, handle: disable },
]

async function changeRole(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  const role = request.form.text('role')
  return change(request, email, `${email} is ${role} now.`, () =>
    request.operator.changeRole(email, ROLES.find((name) => name === role) ?? (role as Role)),
  )
}

function disable(request: PageRequest): Promise<Reply> {
  const email = request.form.text('email')
  return change(request, email, `The account of ${email} is disabled, and its sessions have ended.`, () =>
    request.operator.disableOperator(email),
  )
}

async function change(
  request: PageRequest,
  email: string,
  done: string,
  work: () => Promise<void>,
): Promise<Reply> {
  // Otherwise the last administrator could lock everybody out by mistake.
  if (email === request.account.email) {
    return operatorsPage(request, {
      tone: 'error',
      text: 'Another administrator must change your own account.',
    })
  }
  return operatorsPage(request, await attempt(work, done))
}

async function operatorsPage({ operator, account }: PageRequest, message?: PageMessage): Promise<Page> {
  const operators = await operator.listOperators()
  return {
    title: 'Operators',
    section: 'operators',
    ...withMessage(message),
    main: html`${table(
      'Operators',
      ['Email address', 'Role', 'State', 'Last sign-in', 'Change'],
      operators.map(({ email, role, state, signedInAt }) => [
        email,
        role,
        html`<span class="badge${state === 'active' && ' badge-good'}">${state}</span>`,
        timeCell(signedInAt),
        email === account.email || state === 'disabled' ? null : actions(email, role),
      ]),
      'There are no operators.',
    )}
<h2>Invite an operator</h2>
<p>Run this where the service runs. It prints a link that is valid once, for 24 hours. For someone who has an account, the link
replaces the password and the second factor.</p>
<pre class="once">countersign-service operator invite ann@example.com --role support</pre>`,
  }
}

function actions(email: string, role: Role) {
  return html`<div class="form-row"><form class="form-row" method="post" action="${PATH}/role">
<input type="hidden" name="email" value="${email}">
<select name="role" aria-label="Role of ${email}">
${ROLES.map((name) => html`<option${name === role && html` selected`}>${name}</option>`)}
</select> <button class="small-button">Change role</button></form>
<form method="post" action="${PATH}/disable"><input type="hidden" name="email" value="${email}">
<button class="small-button">Disable</button></form></div>`
}
