import { SCOPES, type Scope } from 'countersign/protocol'
import { SIGN_IN_SCOPES } from '../../accounts/applications/api-key.js'
import { DEFAULT_APPLICATION } from '../../accounts/applications/directory.js'
import { html } from '../../html.js'
import type { KeySummary } from '../../operator/api-keys.js'
import { isAtLeast } from '../../operator/rights.js'
import { DAY_MS } from '../../time.js'
import { attempt, attemptToFind, createOnceField, refuseRepeated } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, type Cell, cardTable, timeCell } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath, readMode, renderOnce } from './applications.js'

const PATH = `${APPLICATIONS_PATH}/:application/keys`

/** The API keys of an application. */
export const KEY_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => keysPage(request) },
  { method: 'post', path: PATH, least: 'admin', stepUp: true, handle: create },
  { method: 'post', path: `${PATH}/revoke`, least: 'admin', stepUp: true, handle: revoke },
]

async function create(request: PageRequest): Promise<Reply> {
  const { form, operator, application } = request
  const repeated = await refuseRepeated(request, 'The key is in the list, and is not shown again.')
  if (repeated) return keysPage(request, repeated)
  const mode = readMode(form.text('mode'))
  const days = Number(form.text('days'))
  const { found, message } = await attemptToFind(() =>
    operator.createKey(application, {
      mode,
      label: form.text('label'),
      scopes: form.all('scopes'),
      lifetimeMs: days > 0 ? days * DAY_MS : undefined,
    }),
  )
  if (!found) return keysPage(request, message)
  return renderOnce(application, '/keys', {
    title: 'New API key',
    about: `A ${mode} key of ${application}`,
    secret: found.key,
    advice: 'Copy the key now. It is stored as a hash only, and is not shown again.',
    back: 'Back to the keys',
    backTo: applicationPath(application, '/keys'),
  })
}

async function revoke(request: PageRequest): Promise<Reply> {
  const { application } = request
  const id = request.form.text('id')
  const message = await attempt(
    () => request.operator.revokeKey(application, id),
    `${id} is revoked. All processes refuse it within a second.`,
  )
  return keysPage(request, message)
}

async function keysPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { application } = request
  const keys = await request.operator.listKeys(application)
  const mayChange = isAtLeast(request.account.role, 'admin')
  const main = html`${cardTable(
    'API keys',
    [
      'Key',
      'Label',
      'Mode',
      'Scopes',
      'Created',
      'Expires',
      'Last used',
      'From',
      'State',
      ...(mayChange ? ['Change'] : []),
    ],
    [
      ...listOptionKeys(request, application, mayChange),
      ...keys.map((key) => row(application, key, mayChange)),
    ],
    'This application has no keys.',
  )}
${mayChange && createForm(application)}`
  return applicationPage(application, '/keys', main, { message })
}

/** The key in the environment, which belongs to the application `default`. */
function listOptionKeys({ parts }: PageRequest, application: string, mayChange: boolean): Cell[][] {
  const { optionKey } = parts.doctor
  if (optionKey === undefined || application !== DEFAULT_APPLICATION) return []
  const name = html`<code>SERVICE_API_KEY</code>`
  const cells = [name, 'in the environment', 'live', optionKey.join(', '), null, null, null, null, VALID]
  return [[...cells, ...(mayChange ? ['Change the variable.'] : [])]]
}

const VALID = html`<span class="badge badge-good">valid</span>`

function row(application: string, key: KeySummary, mayChange: boolean) {
  const { id, hint, label, mode, createdAt, expiresAt, lastUsedAt, lastAddress, newNetwork, revokedAt } = key
  const isNew = newNetwork !== null && newNetwork.at > Date.now() - NEW_NETWORK_MS
  const path = applicationPath(application, '/keys/revoke')
  const button = buttonForm(path, 'Revoke', { id }, `Revoke ${label || hint}`)
  return [
    html`<code>${hint}</code>`,
    label || null,
    mode,
    key.scopes.join(', '),
    timeCell(createdAt),
    timeCell(expiresAt),
    timeCell(lastUsedAt),
    lastAddress,
    html`${stateBadge(key)}${isNew && html` <span class="badge badge-bad">new network ${newNetwork.network}</span>`}`,
    ...(mayChange ? [revokedAt === null ? button : null] : []),
  ]
}

const NEW_NETWORK_MS = 7 * DAY_MS

function stateBadge({ revokedAt, expiresAt }: KeySummary) {
  if (revokedAt !== null) return html`<span class="badge">revoked</span>`
  if (expiresAt !== null && expiresAt <= Date.now()) return html`<span class="badge">expired</span>`
  return VALID
}

const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  verify: 'Send and verify codes, check security keys',
  enroll: 'Set up and remove factors',
  read: 'Read factors and delivery states',
  'personal-data': 'List, export and erase users',
  transcribe: 'Transcribe recordings and streams',
}

function createForm(application: string) {
  return html`<h2>Create a key</h2>
<form class="form" method="post" action="${applicationPath(application, '/keys')}">
${createOnceField()}
<div class="field"><label for="label">Label</label>
<input id="label" name="label" maxlength="80" autocomplete="off" aria-describedby="label-hint">
<span class="mfa-hint" id="label-hint">What it is for, such as "web servers".</span></div>
<fieldset><legend>Mode</legend><div class="checks">
<label><input type="radio" name="mode" value="live" checked> Live</label>
<label><input type="radio" name="mode" value="test"> Test: data of its own, delivers nothing</label></div></fieldset>
<fieldset><legend>Scopes</legend><div class="checks">
${SCOPES.map(
  (scope) =>
    html`<label><input type="checkbox" name="scopes" value="${scope}"${SIGN_IN_SCOPES.includes(scope) && html` checked`}> <span><code>${scope}</code>: ${SCOPE_WORDS[scope]}</span></label>`,
)}</div></fieldset>
<div class="field"><label for="days">Expires</label><select id="days" name="days">
<option value="0">Never</option><option value="30">In 30 days</option><option value="90">In 90 days</option>
<option value="365">In a year</option></select></div>
<button class="mfa-primary">Create a key</button></form>`
}
