import { html } from '../../html.js'
import { isAtLeast } from '../../operator/rights.js'
import { attempt } from '../form.js'
import type { PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, cardTable, countAre, countNoun, countOf } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, readMode, readText } from './applications.js'
import { userPath } from './users.js'

const PATH = `${APPLICATIONS_PATH}/:application/locked`

/** The locked users of an application, and unlocking all of them. */
export const LOCKED_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => lockedPage(request) },
  { method: 'post', path: `${PATH}/unlock`, least: 'support', stepUp: true, handle: unlock },
]

async function unlock(request: PageRequest): Promise<Reply> {
  const { form, operator, application } = request
  const mode = readMode(form.text('mode'))
  const lockedBy = Number(form.text('until')) || 0
  const unlockAll = () => operator.unlockUsers({ application, mode, lockedBy })
  const done = (count: number) => `${countAre(count, 'user')} unlocked. Disabled factors stay disabled.`
  return lockedPage(request, await attempt(unlockAll, done))
}

async function lockedPage(request: PageRequest, message?: PageMessage): Promise<Reply> {
  const { application } = request
  const mode = readMode(request.form.text('mode') || readText(request.request.query.mode))
  const until = Date.now()
  const { count, users } = await request.operator.listLocked({ application, mode })
  const label = `Unlock ${countNoun(count, 'user')}`
  const fields = { mode, until }
  const main = html`<p>Locked now: ${countOf(count)}. Too many wrong codes lock a user, and the lock ends by itself.</p>
${
  isAtLeast(request.account.role, 'support') &&
  html`${count > 0 && buttonForm(applicationPath(application, '/locked/unlock'), label, fields)}
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
<p><a href="?mode=${mode === 'test' ? 'live' : 'test'}">Users of ${mode === 'test' ? 'live' : 'test'} keys</a></p>`
  return applicationPage(application, '/locked', main, { message })
}
