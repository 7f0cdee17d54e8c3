import { KEY_METHODS, type Key } from 'countersign/protocol'
import { type Html, html } from '../../http/html-page.js'
import type { UserReference } from '../../operator/user-reference.js'
import type { UserState } from '../../operator/users.js'
import { cardTable, table, timeCell } from '../table.js'
import { userForm } from './user-form.js'

const METHOD_NAMES = { 'security-key': 'security key', passkey: 'passkey' } as const

/** The security keys and passkeys of a user, each with a button that removes it. */
export function keysTable(user: UserReference, keys: readonly Key[]): Html {
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
export function factorsSection(user: UserReference, state: UserState, keys: readonly Key[]): Html {
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
