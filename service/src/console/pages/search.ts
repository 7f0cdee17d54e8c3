import { html } from '../../html.js'
import type { Found } from '../../operator/find.js'
import { openIfSealed, seal } from '../../store/secrets/seal.js'
import { attemptToFind } from '../form.js'
import { type PageRequest, type PageRoute, type Reply, SEARCH_PATH } from '../page.js'
import { cardTable } from '../parts.js'
import { messagePath, readText } from './applications.js'
import { userPath } from './users.js'

/** The search field of every page. What is searched is posted, and sealed where it is a part of an address. */
export const SEARCH_ROUTES: readonly PageRoute[] = [
  { method: 'post', path: SEARCH_PATH, least: 'support', handle: search },
  { method: 'get', path: SEARCH_PATH, least: 'support', handle: resultPage },
]

const IDENTITY = ['what is searched']

/** Leads to the page of what was found, or to the list of it. */
async function search(request: PageRequest): Promise<Reply> {
  const searched = request.form.text('find')
  const { found } = await find(request, searched)
  const pages = [
    ...found.users.map((user) => userPath(request, user)),
    ...found.messages.map((message) => messagePath(message)),
  ]
  const [first] = pages
  const list = `${SEARCH_PATH}?for=${seal(request.parts.keys, IDENTITY, searched)}`
  return { redirect: first !== undefined && pages.length === 1 ? first : list }
}

async function resultPage(request: PageRequest): Promise<Reply> {
  const sealed = readText(request.request.query.for)
  const searched = openIfSealed(request.parts.keys, IDENTITY, sealed) ?? ''
  const { found, message } = await find(request, searched)
  return {
    title: 'Search',
    searched,
    message,
    main: html`${rows(request, found)}
${found.isCut && html`<p class="note">There are more users. Write more of what you know.</p>`}
<p class="note">The search finds accounts by their name as the application sends it, by a mailbox or phone number that they have proven, and by
their reference in the log, and messages by their id. Of names, the beginning is enough. The database has only hashes of contacts, which are
found whole; but where the application names accounts by contacts, the part of a mailbox before the @, or a number without its last one or two
digits, finds them too.</p>`,
  }
}

function find({ operator }: PageRequest, text: string) {
  return attemptToFind(() => operator.find(text), { users: [], messages: [], isCut: false })
}

function rows(request: PageRequest, { users, messages }: Found) {
  const nameKeys = (mode: string) => (mode === 'test' ? ', test keys' : '')
  return cardTable(
    'Found',
    ['What', 'Application', 'Reference'],
    [
      ...users.map((user) => [
        html`<a href="${userPath(request, user)}">${user.shown}</a>`,
        `${user.application}${nameKeys(user.mode)}`,
        html`<code>${user.reference}</code>`,
      ]),
      ...messages.map((message) => [
        html`<a href="${messagePath(message)}">Message</a>`,
        `${message.application}${nameKeys(message.mode)}`,
        html`<code>${message.id}</code>`,
      ]),
    ],
    'Nothing was found.',
  )
}
