import { DEFAULT_APPLICATION } from '../../accounts/applications/directory.js'
import { type Html, html } from '../../html.js'
import { type ApplicationSummary, parseSettings } from '../../operator/list-applications.js'
import type { MessageReference } from '../../operator/messages.js'
import { isAtLeast } from '../../operator/rights.js'
import type { Mode } from '../../store/partition.js'
import { attempt } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { COPY_SCRIPTS } from '../page.js'
import { cardTable, timeCell } from '../parts.js'

/** The path of the page of applications. */
export const APPLICATIONS_PATH = '/console/applications'

const PAGE_SIZE = 100

/** The list of applications, and creating one. */
export const APPLICATION_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: APPLICATIONS_PATH, least: 'viewer', handle: (request) => listPage(request) },
  { method: 'post', path: APPLICATIONS_PATH, least: 'admin', handle: create },
]

async function create(request: PageRequest): Promise<Reply> {
  const name = request.form.text('application')
  const countries = request.form.text('countries')
  const message = await attempt(
    () =>
      request.operator.createApplication(name, parseSettings(countries ? [`countries=${countries}`] : [])),
    '',
  )
  if (message.tone === 'error') return listPage(request, message)
  return { redirect: applicationPath(name) }
}

async function listPage(
  { operator, account, request, form, parts }: PageRequest,
  message?: PageMessage,
): Promise<Page> {
  const search = readText(request.query.search)
  const after = readText(request.query.after) || undefined
  const { applications, next } = await operator.searchApplications({ search, after, limit: PAGE_SIZE })
  const more = new URLSearchParams({ ...(search && { search }), ...(next && { after: next }) })
  return {
    title: 'Applications',
    section: 'applications',
    message,
    main: html`<form class="form-row" method="get" role="search">
<div class="field"><label for="search">Find by name</label><input id="search" name="search" type="search" value="${search}"></div>
<button class="small-button">Find</button></form>
${cardTable(
  'Applications',
  ['Application', 'Name', 'Tier', 'Live keys', 'Test keys', 'Created'],
  applications.map((application) => row(application, parts.doctor.optionKey !== undefined)),
  'No application has this name.',
)}
${next && html`<p><a href="?${more.toString()}">More applications</a></p>`}
${isAtLeast(account.role, 'admin') && createForm(form.text('application'))}`,
  }
}

function row(
  { application, name, tier, liveKeys, testKeys, createdAt }: ApplicationSummary,
  hasOptionKey: boolean,
) {
  const ofOptions = hasOptionKey && application === DEFAULT_APPLICATION ? 1 : 0
  return [
    html`<a href="${applicationPath(application)}">${application}</a>`,
    ...[name, tier, liveKeys + ofOptions, testKeys],
    timeCell(createdAt),
  ]
}

function createForm(application: string): Html {
  return html`<h2>Create an application</h2>
<form class="form" method="post">
<div class="field"><label for="application">Application</label>
<input id="application" name="application" required maxlength="40" value="${application}" aria-describedby="application-hint">
<span class="mfa-hint" id="application-hint">1 to 40 lowercase letters, digits and dashes. It shares no data with other applications.</span></div>
<div class="field"><label for="countries">Countries</label>
<input id="countries" name="countries" aria-describedby="countries-hint">
<span class="mfa-hint" id="countries-hint">ISO codes of your users’ countries, such as GB,DE. "all" serves every country, which SMS pumping abuses.</span></div>
<button class="mfa-primary">Create</button></form>`
}

/** The path of an application's page. */
export function applicationPath(application: string, page = ''): string {
  return `${APPLICATIONS_PATH}/${encodeURIComponent(application)}${page}`
}

/** The path of a message's page, or of one of its actions. */
export function messagePath({ application, mode, id }: MessageReference, action = ''): string {
  const query = mode === 'test' ? '?mode=test' : ''
  return applicationPath(application, `/messages/${encodeURIComponent(id)}${action}${query}`)
}

/** A parameter of the query, if it is one text. */
export function readText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** The mode of keys that a form or the query names; `live` for anything but `test`. */
export function readMode(text: string): Mode {
  return text === 'test' ? 'test' : 'live'
}

const APPLICATION_PAGES = [
  { page: '', name: 'Settings' },
  { page: '/keys', name: 'API keys' },
  { page: '/locked', name: 'Locked users' },
  { page: '/messages', name: 'Messages' },
  { page: '/numbers', name: 'Numbers' },
  { page: '/traffic', name: 'Traffic' },
  { page: '/webhook', name: 'Delivery webhook' },
  { page: '/events', name: 'Events' },
  { page: '/inbox', name: 'Inbox' },
] as const

/** A page of an application, below the links to all its pages, of which it is the `current` one. Its title defaults to the name of that page. */
export function applicationPage(
  application: string,
  current: (typeof APPLICATION_PAGES)[number]['page'] | undefined,
  main: Html,
  page: Partial<Page> = {},
): Page {
  const whole = html`${applicationNav(application, current)}\n${main}`
  const name = APPLICATION_PAGES.find((listed) => listed.page === current)?.name
  const title = name === undefined ? application : `${name} of ${application}`
  return { title, section: 'applications', ...page, main: whole }
}

/** The page of an application that shows a secret, this once, with a link to where it belongs. */
export function renderOnce(
  application: string,
  current: (typeof APPLICATION_PAGES)[number]['page'],
  shown: Readonly<Record<'title' | 'about' | 'secret' | 'advice' | 'back' | 'backTo', string>>,
): Page {
  const { title, about, secret, advice, back, backTo } = shown
  const main = html`<p>${about}:</p><code class="once">${secret}</code>
<p><a href="${backTo}">${back}</a></p>`
  const message = { tone: 'success', text: advice } as const
  return applicationPage(application, current, main, { title, message, scripts: COPY_SCRIPTS })
}

function applicationNav(application: string, current: string | undefined): Html {
  return html`<nav class="console-tabs" aria-label="Application ${application}"><ul>
${APPLICATION_PAGES.map(
  ({ page, name }) =>
    html`<li><a href="${applicationPath(application, page)}"${page === current && html` aria-current="page"`}>${name}</a></li>`,
)}</ul></nav>`
}
