import { KEY_METHODS, type Key } from 'countersign/protocol'
import { type Html, html } from '../../html.js'
import { OperatorError } from '../../operator/audited-change.js'
import { isAtLeast } from '../../operator/rights.js'
import type { UserReference, UserState } from '../../operator/users.js'
import { attempt, withMessage } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { cardTable, table, timeCell, timeOf } from '../parts.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath } from './applications.js'
import { changeOrAsk } from './approvals.js'

const METHOD_NAMES = { 'security-key': 'security key', passkey: 'passkey' } as const

/** The security keys and passkeys of a user, each with a button that removes it. */
function keysTable(user: UserReference, keys: readonly Key[]): Html {
  return html`<h2>Security keys and passkeys</h2>
${cardTable(
  'Security keys and passkeys',
  ['Name', 'Kind', 'Can be synced', 'Added', 'Last used', 'Change'],
  keys.map(({ id, method, name, backupEligible, createdAt, lastUsedAt }) => [
    name,
    METHOD_NAMES[method],
    backupEligible ? 'yes' : 'no, one device only',
    timeCell(createdAt),
    timeCell(lastUsedAt ?? null),
    userForm(
      user,
      'remove-key',
      html`<input type="hidden" name="key" value="${id}"><button class="small-button" aria-label="Remove ${name}">Remove</button>`,
    ),
  ]),
  'There are none.',
)}`
}

/** The factors with failures, and the forms that disable one until the user sets it up again. */
function factorsSection(user: UserReference, state: UserState, keys: readonly Key[]): Html {
  const offered = [
    ...(state.authenticatorApp === 'set up' ? [['app', 'authenticator app'] as const] : []),
    ...(state.backupCodesLeft > 0 ? [['backup', 'backup codes'] as const] : []),
    ...KEY_METHODS.filter((method) => keys.some((key) => key.method === method)).map(
      (method) => [method, `${METHOD_NAMES[method]}s`] as const,
    ),
  ]
  return html`<h2>Factors with failures, or disabled</h2>
${table(
  'Factors',
  ['Factor', 'Failures', 'Disabled'],
  state.factors.map(({ factor, failures, disabled }) => [factor, failures, disabled]),
  'There are none.',
)}
<h2>Disable a factor until it is set up again</h2>
${
  offered.length > 0 &&
  html`<div class="form-row">${offered.map(([factor, name]) =>
    userForm(
      user,
      'disable',
      html`<input type="hidden" name="factor" value="${factor}"><button class="small-button">Disable the ${name}</button>`,
    ),
  )}</div>`
}
${userForm(
  user,
  'disable',
  html`<div class="field"><label for="factor">Mailbox or phone number, such as +447700900123</label>
<input id="factor" name="factor" required maxlength="400" autocomplete="off"></div>
<button class="small-button">Disable</button>`,
  'form-row',
)}`
}

const PATH = `${APPLICATIONS_PATH}/:application/users`

/**
 * Looking up a user and helping them. The contact is posted and never part of an address, which proxies and browsers keep.
 */
export const USER_ROUTES: readonly PageRoute[] = [
  {
    method: 'get',
    path: PATH,
    least: 'support',
    handle: async (request) => searchPage(request, await applicationOf(request)),
  },
  {
    method: 'post',
    path: PATH,
    least: 'support',
    handle: async (request) => userPage(request, await referenceOf(request)),
  },
  { method: 'post', path: `${PATH}/unlock`, least: 'support', stepUp: true, handle: unlock },
  { method: 'post', path: `${PATH}/disable`, least: 'support', stepUp: true, handle: disable },
  { method: 'post', path: `${PATH}/remove-key`, least: 'support', stepUp: true, handle: removeKey },
  { method: 'post', path: `${PATH}/erase`, least: 'admin', stepUp: true, handle: erase },
]

async function unlock(request: PageRequest): Promise<Reply> {
  const user = await referenceOf(request)
  const done = 'The account is unlocked. Disabled factors stay disabled.'
  return userPage(request, user, await attempt(() => request.operator.unlockUser(user), done))
}

async function disable(request: PageRequest): Promise<Reply> {
  const user = await referenceOf(request)
  const factor = request.form.text('factor')
  const done = 'The factor is disabled until the user sets it up again.'
  const make = () => request.operator.disableFactor(user, factor)
  const change = { action: 'disable-factor', target: factor } as const
  return userPage(request, user, await changeOrAsk(request, user, change, { make, done }))
}

async function removeKey(request: PageRequest): Promise<Reply> {
  const user = await referenceOf(request)
  const key = request.form.text('key')
  const done = 'The key is removed. The user can add it again after signing in with another factor.'
  const make = () => request.operator.removeUserKey(user, key)
  const change = { action: 'remove-key', target: key } as const
  return userPage(request, user, await changeOrAsk(request, user, change, { make, done }))
}

async function erase(request: PageRequest): Promise<Reply> {
  const user = await referenceOf(request)
  if (request.form.exact('confirmed') !== 'on') {
    return userPage(request, user, { tone: 'error', text: 'Tick the box to erase the account.' })
  }
  const done = 'Everything that was stored about the account is deleted.'
  const make = () => request.operator.eraseUser(user)
  const message = await changeOrAsk(request, user, { action: 'erase-user', target: '' }, { make, done })
  return searchPage(request, user.application, message)
}

function searchPage(request: PageRequest, application: string, message?: PageMessage): Page {
  return {
    title: application,
    section: 'applications',
    ...withMessage(message),
    main: html`${applicationNav(request, application, '/users')}${searchForm(application, request.form.text('user'))}`,
  }
}

async function userPage(request: PageRequest, user: UserReference, message?: PageMessage): Promise<Page> {
  const { operator, account } = request
  try {
    const state = await operator.showUser(user)
    const timeline = await operator.userTimeline(user)
    const keys = await operator.listUserKeys(user)
    return {
      title: state.user,
      section: 'applications',
      ...withMessage(message),
      main: html`${applicationNav(request, user.application, '/users')}
${facts(state)}
${lockAction(user, state)}
${keysTable(user, keys)}
${factorsSection(user, state, keys)}
<h2>What happened lately</h2>
${cardTable(
  'Timeline',
  ['Time', 'Event', 'What', 'Result'],
  timeline.map(({ at, kind, what, result }) => [new Date(at), kind, what, result || null]),
  'Nothing happened in the last days.',
)}
${TRUST_NOTE}
${isAtLeast(account.role, 'admin') && eraseForm(user)}
<h2>Another user</h2>${searchForm(user.application, '')}`,
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return searchPage(request, user.application, { tone: 'error', text: UNKNOWN })
  }
}

const UNKNOWN =
  'There is no such account. Write a mailbox or a phone number such as +447700900123, or choose "name" if the application sends a name of its own as Account. Test keys have accounts of their own.'

function searchForm(application: string, user: string): Html {
  return html`<form class="form" method="post" action="${applicationPath(application, '/users')}">
<div class="field"><label for="user">User</label>
<input id="user" name="user" required maxlength="400" autocomplete="off" value="${user}" aria-describedby="user-hint">
<span class="mfa-hint" id="user-hint">ann@example.com, +447700900123, both separated by a colon, or the name of the account.</span></div>
<fieldset><legend>This is</legend><div class="checks">
<label><input type="radio" name="kind" value="contact" checked> a contact</label>
<label><input type="radio" name="kind" value="account"> the name that the application sends as Account</label></div></fieldset>
<div class="checks"><label><input type="checkbox" name="mode" value="test"> Data of test keys</label></div>
<button class="mfa-primary">Look up</button></form>`
}

function facts(state: UserState): Html {
  const { lockedUntil, failures, email, phone, locale, authenticatorApp, backupCodesLeft } = state
  return html`<dl class="facts">
<dt>Lock</dt><dd>${lockedUntil === null ? 'not locked' : html`<span class="badge badge-bad">locked</span> until ${timeOf(lockedUntil)}`}</dd>
<dt>Wrong codes in 24 hours</dt><dd>${failures}</dd>
<dt>Mailbox</dt><dd>${email ?? '–'}</dd>
<dt>Phone</dt><dd>${phone ?? '–'}</dd>
<dt>Language</dt><dd>${locale ?? '–'}</dd>
<dt>Authenticator app</dt><dd>${authenticatorApp}</dd>
<dt>Backup codes left</dt><dd>${backupCodesLeft}</dd>
</dl>`
}

function lockAction(user: UserReference, { lockedUntil }: UserState): Html | false {
  return lockedUntil !== null && userForm(user, 'unlock', html`<button class="small-button">Unlock</button>`)
}

const TRUST_NOTE = html`<h2>Trusted browsers and sessions</h2>
<p class="note">They are kept by the application, not by this service. Its staff end them there:
<code>mfa.account.revokeDevices(user)</code> ends the trust of all browsers, <code>mfa.account.secure(user)</code> all sessions, too.</p>`

function eraseForm(user: UserReference): Html {
  return html`<h2>Erase</h2>${userForm(
    user,
    'erase',
    html`<div class="checks"><label><input type="checkbox" name="confirmed"> Delete everything that is stored about this account, for good</label></div>
<button class="small-button">Erase</button>`,
    'form-row',
  )}`
}

/** The user that a form names. */
async function referenceOf(request: PageRequest): Promise<UserReference> {
  const { form } = request
  return {
    application: await applicationOf(request),
    mode: form.text('mode') === 'test' ? 'test' : 'live',
    user: form.text('user'),
    isAccount: form.text('kind') === 'account',
  }
}

/** A form with one button, for an action on a user. */
function userForm(user: UserReference, action: string, content: Html, className = ''): Html {
  return html`<form${className && html` class="${className}"`} method="post" action="${applicationPath(user.application, `/users/${action}`)}">
<input type="hidden" name="user" value="${user.user}">
<input type="hidden" name="kind" value="${user.isAccount ? 'account' : 'contact'}">
<input type="hidden" name="mode" value="${user.mode}">${content}</form>`
}
