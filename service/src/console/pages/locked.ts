import type { LockedUsers } from '../../operator/locked-users.js'
import { isAtLeast } from '../../operator/rights.js'
import { type Html, html } from '../../telemetry/html.js'
import { attempt, withMessage } from '../form.js'
import type { PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { cardTable, countOf } from '../parts.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath, textOf } from './applications.js'
import { userPath } from './users.js'

const PATH = `${APPLICATIONS_PATH}/:application/locked`

/** The locked users of an application, and unlocking all of them. */
export const LOCKED_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => lockedPage(request) },
  { method: 'post', path: `${PATH}/unlock`, least: 'support', stepUp: true, handle: unlock },
]

async function unlock(request: PageRequest): Promise<Reply> {
  const application = await applicationOf(request)
  const { form, operator } = request
  const mode = modeOf(form.text('mode'))
  const lockedBy = Number(form.text('until')) || 0
  const unlockAll = () => operator.unlockUsers({ application, mode, lockedBy })
  return lockedPage(request, await attempt(unlockAll, done))
}

function done(count: number): string {
  return `${count === 1 ? '1 user is' : `${countOf(count)} users are`} unlocked. Disabled factors stay disabled.`
}

function modeOf(text: string): 'live' | 'test' {
  return text === 'test' ? 'test' : 'live'
}

async function lockedPage(request: PageRequest, message?: PageMessage): Promise<Reply> {
  const application = await applicationOf(request)
  const mode = modeOf(request.form.text('mode') || textOf(request.request.query.mode))
  const locked = await request.operator.listLocked({ application, mode })
  const { count, users } = locked
  return {
    title: application,
    section: 'applications',
    ...withMessage(message),
    main: html`${applicationNav(application, '/locked')}
<p>Locked now: ${countOf(count)}. Too many wrong codes lock a user, and the lock ends by itself.</p>
${
  isAtLeast(request.account.role, 'support') &&
  html`${count > 0 && unlockForm(application, mode, locked)}
${cardTable(
  'Locked users',
  ['User', 'Locked until'],
  users.map((user) => [
    html`<a href="${userPath(request, user)}">${user.shown}</a>`,
    new Date(user.lockedUntil),
  ]),
  'No user is locked.',
)}`
}
<p><a href="?mode=${mode === 'test' ? 'live' : 'test'}">Users of ${mode === 'test' ? 'live' : 'test'} keys</a></p>`,
  }
}

function unlockForm(application: string, mode: string, { count }: LockedUsers): Html {
  const users = count === 1 ? '1 user' : `${countOf(count)} users`
  return html`<form method="post" action="${applicationPath(application, '/locked/unlock')}">
<input type="hidden" name="mode" value="${mode}"><input type="hidden" name="until" value="${Date.now()}">
<button class="small-button">Unlock ${users}</button></form>`
}
