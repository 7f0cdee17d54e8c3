import { OperatorError } from '../../operator/audited-change.js'
import type { Found } from '../../operator/find.js'
import { html } from '../../telemetry/html.js'
import { withMessage } from '../form.js'
import { type PageMessage, type PageRequest, type PageRoute, type Reply, SEARCH_PATH } from '../page.js'
import { cardTable } from '../parts.js'
import { messagePath } from './applications.js'
import { inForms, userForm, userPage } from './users.js'

/** The search field of every page. What is searched is posted and never part of an address. */
export const SEARCH_ROUTES: readonly PageRoute[] = [
  { method: 'post', path: SEARCH_PATH, least: 'support', handle: search },
]

const NOTHING =
  'Nothing was found. Write the account as the application sends it, a mailbox or phone number that the user has proven, the reference of an account in the log, or the id of a message.'

/** Leads to the page of what was found, or lists it if there are several. */
async function search(request: PageRequest): Promise<Reply> {
  const searched = request.form.text('find')
  const { found, message } = await attemptToFind(request, searched)
  const { users, messages } = found
  const [user, one] = [users[0], messages[0]]
  if (user && users.length + messages.length === 1) return { ...(await userPage(request, user)), searched }
  if (one && users.length + messages.length === 1) return { redirect: messagePath(one) }
  return {
    title: 'Search',
    searched,
    ...withMessage(message),
    main: html`${rows(request, found)}
${found.isCut && html`<p class="note">There are more users. Write more of what you know.</p>`}`,
  }
}

async function attemptToFind(
  { operator }: PageRequest,
  text: string,
): Promise<{ readonly found: Found; readonly message?: PageMessage }> {
  const nothing = { users: [], messages: [], isCut: false }
  try {
    const found = await operator.find(text)
    const isEmpty = found.users.length + found.messages.length === 0
    return { found, ...(isEmpty && { message: { tone: 'error', text: NOTHING } }) }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return { found: nothing, message: { tone: 'error', text: error.message } }
  }
}

function rows(request: PageRequest, { users, messages }: Found) {
  return cardTable(
    'Found',
    ['What', 'Application', 'Reference', 'Show'],
    [
      ...users.map((user) => [
        user.shown,
        `${user.application}${user.mode === 'test' ? ', test keys' : ''}`,
        html`<code>${user.reference}</code>`,
        userForm(
          inForms(request, user),
          '',
          html`<button class="small-button" aria-label="Show ${user.shown} of ${user.application}${user.mode === 'test' && ', test keys'}">Show</button>`,
        ),
      ]),
      ...messages.map((message) => [
        'Message',
        `${message.application}${message.mode === 'test' ? ', test keys' : ''}`,
        html`<code>${message.id}</code>`,
        html`<a href="${messagePath(message)}">Show the message</a>`,
      ]),
    ],
    '',
  )
}
