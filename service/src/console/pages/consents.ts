import { type Html, html } from '../../html.js'
import type { ConsentReference } from '../../operator/consent-request.js'
import type { ConsentRequest, NewConsent } from '../../operator/consents.js'
import { CONSOLE_APPLICATION } from '../../operator/operator-account.js'
import type { UserReference } from '../../operator/users.js'
import { attempt } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, type Cell, cardTable } from '../parts.js'
import { readMode } from './applications.js'

/** The path of the page. */
export const CONSENTS_PATH = '/console/approvals'

/** The changes to users and operators that wait for a second operator. */
export const CONSENT_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: CONSENTS_PATH, least: 'support', handle: (request) => consentsPage(request) },
  { method: 'post', path: `${CONSENTS_PATH}/approve`, least: 'support', stepUp: true, handle: consent },
  { method: 'post', path: `${CONSENTS_PATH}/refuse`, least: 'support', handle: refuse },
]

/** The message of a page about a change that waits for consent. */
export const ASKED =
  'Nothing is changed yet: another operator has to consent to this within an hour, on the page Consents.'

/** Makes a change to a user's factors, or asks for it where it needs a second operator; returns what the page says. */
export function changeOrAsk(
  { operator, parts }: PageRequest,
  user: UserReference,
  change: NewConsent,
  { make, done }: { readonly make: () => Promise<unknown>; readonly done: string },
): Promise<PageMessage> {
  return parts.fourEyes ? attempt(() => operator.consents.ask(user, change), ASKED) : attempt(make, done)
}

function readReference({ form }: PageRequest): ConsentReference {
  return { application: form.text('application'), mode: readMode(form.text('mode')), id: form.text('id') }
}

async function consent(request: PageRequest): Promise<Reply> {
  const reference = readReference(request)
  const done = 'Consent given. The change is made.'
  return consentsPage(request, await attempt(() => request.operator.consents.give(reference), done))
}

async function refuse(request: PageRequest): Promise<Reply> {
  const reference = readReference(request)
  const done = 'Nothing is changed, and the request is gone.'
  return consentsPage(request, await attempt(() => request.operator.consents.refuse(reference), done))
}

async function consentsPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { operator, parts, account } = request
  const open = await operator.consents.list()
  return {
    title: 'Consents',
    section: 'consents',
    message,
    main: html`${parts.fourEyes ? ON : OFF}
${await warnOfOnePerson(request)}
${cardTable(
  'Consents',
  ['Change', 'For', 'Asked by', 'Until', 'Who can consent', 'Decide'],
  open.filter(({ roles }) => roles.includes(account.role)).map((request) => row(request, account.email)),
  'Nothing waits for consent.',
)}`,
  }
}

const ON = html`<p>Disabling a factor, removing a key and erasing a user need two operators. One asks on the page of the user, another
consents here within an hour. Inviting, resetting and promoting an operator need two administrators in the same way.</p>
<p class="note">Operators who invited, reset or promoted each other, directly or through others, or have the same email address, count as
one person, and do not consent to each other’s requests. Neither do a local and a company account, until
<code>countersign-service operator two-persons</code> says that they are two.</p>`
const OFF = html`<p class="note">Four eyes are off: operators change users and other operators alone.
<code>SERVICE_CONSOLE_FOUR_EYES=true</code> makes these changes wait here for a second operator.</p>`

/** The warning where four eyes are on and all administrators are one person. */
export async function warnOfOnePerson({ operator, parts }: PageRequest): Promise<Html | false> {
  if (!parts.fourEyes || (await operator.consents.hasSecondAdmin())) return false
  return html`<div class="mfa-message mfa-message-error" role="status"><p>There are no two administrators who are two persons, so one administrator still
invites and changes operators alone, and administrators cannot consent to each other’s requests. At the command line of the server,
<code>countersign-service operator invite</code> makes an administrator of their own, and
<code>countersign-service operator reset --independent</code> makes one of an account that another administrator invited, and
<code>countersign-service operator two-persons</code> tells a local and a company account apart.</p></div>`
}

const NAMES = {
  'disable-factor': 'Disable a factor',
  'remove-key': 'Remove a key',
  'erase-user': 'Erase the user',
  'invite-operator': 'Invite an operator',
  'change-role': 'Change the role',
  'reset-operator': 'Reset password and second factors',
} as const

function row(asked: ConsentRequest, email: string): Cell[] {
  const { application, mode, id, action, user, target, askedBy, expiresAt, deciders } = asked
  const isOperator = application === CONSOLE_APPLICATION
  const button = (decision: string, name: string) =>
    buttonForm(`${CONSENTS_PATH}/${decision}`, name, { application, mode, id })
  return [
    html`${NAMES[action]}${target && html`: ${target}`}`,
    html`${user}<br><span class="mfa-hint">${isOperator ? 'operator of the console' : application}${mode === 'test' ? ', test keys' : ''}</span>`,
    askedBy,
    new Date(expiresAt),
    deciders.join(', ') || 'nobody: it needs an operator who is another person',
    html`<div class="form-row">${deciders.includes(email) && button('approve', 'Consent')}
${button('refuse', askedBy === email ? 'Withdraw' : 'Refuse')}</div>`,
  ]
}
