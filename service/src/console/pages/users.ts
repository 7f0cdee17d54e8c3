import { KEY_METHODS, type Key } from 'countersign/protocol'
import { type Html, html } from '../../html.js'
import { isAtLeast } from '../../operator/rights.js'
import { readAccount, type UserReference, type UserState } from '../../operator/users.js'
import { getPartition } from '../../store/partition.js'
import { accountReference } from '../../store/secrets/keys.js'
import { openIfSealed, seal } from '../../store/secrets/seal.js'
import { attempt, attemptToFind, ConsoleError } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { cardTable, renderTime, table, timeCell } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, messagePath } from './applications.js'
import { changeOrAsk } from './consents.js'

const METHOD_NAMES = { 'security-key': 'security key', passkey: 'passkey' } as const

/** The security keys and passkeys of a user, each with a button that removes it. */
function keysTable(form: UserForm, keys: readonly Key[]): Html {
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
    form(
      'remove-key',
      html`<input type="hidden" name="key" value="${id}"><button class="small-button" aria-label="Remove ${name}">Remove</button>`,
    ),
  ]),
  'There are none.',
)}`
}

/** The factors with failures, and the forms that disable one until the user sets it up again. */
function factorsSection(form: UserForm, state: UserState, keys: readonly Key[]): Html {
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
    form(
      'disable',
      html`<input type="hidden" name="factor" value="${factor}"><button class="small-button">Disable the ${name}</button>`,
    ),
  )}</div>`
}
${form(
  'disable',
  html`<div class="field"><label for="factor">Mailbox or phone number, such as +447700900123</label>
<input id="factor" name="factor" required maxlength="400" autocomplete="off"></div>
<button class="small-button">Disable</button>`,
  'form-row',
)}`
}

const PATH = `${APPLICATIONS_PATH}/:application/users/:user`

/** A user and what helps them. Addresses name the user sealed: proxies and browsers keep them, and they must not contain a contact. */
export const USER_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'support', handle: (request) => userPage(request) },
  { method: 'post', path: `${PATH}/unlock`, least: 'support', stepUp: true, handle: unlock },
  { method: 'post', path: `${PATH}/disable`, least: 'support', stepUp: true, handle: disable },
  { method: 'post', path: `${PATH}/remove-key`, least: 'support', stepUp: true, handle: removeKey },
  { method: 'post', path: `${PATH}/erase`, least: 'admin', stepUp: true, handle: erase },
]

async function unlock(request: PageRequest): Promise<Reply> {
  const user = readUserReference(request)
  const done = 'The account is unlocked. Disabled factors stay disabled.'
  return userPage(request, await attempt(() => request.operator.unlockUser(user), done))
}

async function disable(request: PageRequest): Promise<Reply> {
  const user = readUserReference(request)
  const factor = request.form.text('factor')
  const done = 'The factor is disabled until the user sets it up again.'
  const make = () => request.operator.disableFactor(user, factor)
  const change = { action: 'disable-factor', target: factor } as const
  return userPage(request, await changeOrAsk(request, user, change, { make, done }))
}

async function removeKey(request: PageRequest): Promise<Reply> {
  const user = readUserReference(request)
  const key = request.form.text('key')
  const done = 'The key is removed. The user can add it again after signing in with another factor.'
  const make = () => request.operator.removeUserKey(user, key)
  const change = { action: 'remove-key', target: key } as const
  return userPage(request, await changeOrAsk(request, user, change, { make, done }))
}

async function erase(request: PageRequest): Promise<Reply> {
  const user = readUserReference(request)
  if (request.form.exact('confirmed') !== 'on') {
    return userPage(request, { tone: 'error', text: 'Tick the box to erase the account.' })
  }
  const done = 'Everything that was stored about the account is deleted.'
  const make = () => request.operator.eraseUser(user)
  const change = { action: 'erase-user', target: '' } as const
  return userPage(request, await changeOrAsk(request, user, change, { make, done }))
}

const NOTHING_KNOWN: PageMessage = { tone: 'error', text: 'Nothing is known of this account.' }

async function userPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { operator, account } = request
  const user = readUserReference(request)
  const form: UserForm = (action, content, className = '') =>
    html`<form${className && html` class="${className}"`} method="post" action="${userPath(request, user, action)}">${content}</form>`
  const { found: state } = await attemptToFind(() => operator.showUser(user))
  if (!state) {
    const main = html`<p><a href="${applicationPath(user.application)}">${user.application}</a></p>`
    const status = message?.tone === 'success' ? 200 : 404
    return { title: 'User', section: 'applications', status, message: message ?? NOTHING_KNOWN, main }
  }
  const timeline = await operator.userTimeline(user)
  const keys = await operator.listUserKeys(user)
  const reference = accountReference(request.parts.keys, getPartition(user), readAccount(user))
  const main = html`${facts(user, reference, state)}
${state.lockedUntil !== null && form('unlock', html`<button class="small-button">Unlock</button>`)}
${keysTable(form, keys)}
${factorsSection(form, state, keys)}
<h2>What happened lately</h2>
${cardTable(
  'Timeline',
  ['Time', 'Event', 'What', 'Result'],
  timeline.map(({ at, kind, what, result, message: id }) => [
    new Date(at),
    kind,
    id === null ? what : html`<a href="${messagePath({ ...user, id })}">${what}</a>`,
    result || null,
  ]),
  'Nothing happened in the last days.',
)}
${TRUST_NOTE}
${isAtLeast(account.role, 'admin') && eraseForm(form)}`
  return applicationPage(user.application, undefined, main, { title: state.user, message })
}

/** The facts known of the user. Of two users with the same masked contact, only the reference tells which one is shown. */
function facts({ application, mode, isAccount }: UserReference, reference: string, state: UserState): Html {
  const { lockedUntil, failures, email, phone, locale, authenticatorApp, backupCodesLeft } = state
  return html`<dl class="facts">
<dt>${isAccount ? 'Account' : 'Contact'}</dt><dd>${state.user}, of ${application}${mode === 'test' && ', test keys'}</dd>
<dt>Reference</dt><dd><code>${reference}</code></dd>
<dt>Lock</dt><dd>${lockedUntil === null ? 'not locked' : html`<span class="badge badge-bad">locked</span> until ${renderTime(lockedUntil)}`}</dd>
<dt>Wrong codes in 24 hours</dt><dd>${failures}</dd>
<dt>Mailbox</dt><dd>${email ?? '–'}</dd>
<dt>Phone</dt><dd>${phone ?? '–'}</dd>
<dt>Language</dt><dd>${locale ?? '–'}</dd>
<dt>Authenticator app</dt><dd>${authenticatorApp}</dd>
<dt>Backup codes left</dt><dd>${backupCodesLeft}</dd>
</dl>`
}

const TRUST_NOTE = html`<h2>Trusted browsers and sessions</h2>
<p class="note">They are kept by the application, not by this service. Its staff end them there:
<code>mfa.account.revokeDevices(user)</code> ends the trust of all browsers, <code>mfa.account.secure(user)</code> all sessions, too.</p>`

function eraseForm(form: UserForm): Html {
  return html`<h2>Erase</h2>${form(
    'erase',
    html`<div class="checks"><label><input type="checkbox" name="confirmed"> Delete everything that is stored about this account, for good</label></div>
<button class="small-button">Erase</button>`,
    'form-row',
  )}`
}

type UserForm = (action: string, content: Html, className?: string) => Html

const IDENTITY = ['user in an address']

/** The path of a user's page, or of one of its actions. */
export function userPath({ parts }: PageRequest, reference: UserReference, action = ''): string {
  const { application, mode, user, isAccount } = reference
  const sealed = seal(parts.keys, IDENTITY, JSON.stringify({ application, mode, user, isAccount }))
  return applicationPath(application, `/users/${sealed}${action && `/${action}`}`)
}

function readUserReference({ request, parts, application }: PageRequest): UserReference {
  const text = openIfSealed(parts.keys, IDENTITY, String(request.params.user))
  const user: UserReference | undefined = text && JSON.parse(text)
  if (user?.application === application) return user
  throw new ConsoleError(404, 'This address names no user. Find the user again.')
}
