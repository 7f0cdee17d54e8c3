import { type Html, html } from '../../html.js'
import { CHANNELS } from '../../messages/message.js'
import type { DeliverySummary } from '../../operator/deliveries.js'
import type { MessageFilter, MessagePage } from '../../operator/messages.js'
import { isAtLeast } from '../../operator/rights.js'
import type { WaitingFilter } from '../../operator/waiting-messages.js'
import { attempt, attemptToFind } from '../form.js'
import type { PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, cardTable, countAre, countNoun, parseDay } from '../parts.js'
import {
  APPLICATIONS_PATH,
  applicationPage,
  applicationPath,
  messagePath,
  readMode,
  readText,
} from './applications.js'
import { MESSAGE_TONES } from './message.js'

const PATH = `${APPLICATIONS_PATH}/:application/messages`
const STATES = ['queued', 'sent', 'delivered', 'failed', 'refused', 'expired'] as const
const PAGE_SIZE = 100

/** The messages of an application. */
export const MESSAGE_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => listPage(request) },
  { method: 'post', path: `${PATH}/retry`, least: 'support', handle: retry },
]

const FIELDS = ['state', 'channel', 'carrier', 'from', 'to', 'mode'] as const
type Entered = Readonly<Record<(typeof FIELDS)[number], string>>

/** Lets the messages that were counted be sent now. */
async function retry(request: PageRequest): Promise<Reply> {
  const attemptedBy = Number(request.form.text('until')) || 0
  const filter = { ...waitingFilter(request.application, readEntered(request)), attemptedBy }
  const done = (count: number) => `${countAre(count, 'message')} sent within seconds.`
  return listPage(request, await attempt(() => request.operator.retryMessages(filter), done))
}

function readEntered({ request }: PageRequest): Entered {
  return Object.fromEntries(FIELDS.map((name) => [name, readText(request.query[name])])) as Entered
}

function waitingFilter(application: string, entered: Entered): WaitingFilter {
  return {
    application,
    mode: readMode(entered.mode),
    channel: CHANNELS.find((name) => name === entered.channel),
    carrier: entered.carrier || undefined,
  }
}

async function listPage(request: PageRequest, done?: PageMessage): Promise<Reply> {
  const { application } = request
  const entered = readEntered(request)
  const filter: MessageFilter = {
    ...waitingFilter(application, entered),
    state: STATES.find((name) => name === entered.state),
    from: parseDay(entered.from, 0),
    until: parseDay(entered.to, 1),
    after: readText(request.request.query.after) || undefined,
    limit: PAGE_SIZE,
  }
  const none: MessagePage = { messages: [] }
  const { found, message } = await attemptToFind(() => request.operator.searchMessages(filter), none)
  const { next } = found
  const older = new URLSearchParams(Object.entries(entered).filter(([, value]) => value !== ''))
  if (next) older.set('after', next)
  const main = html`${filterForm(application, entered)}
${await waitingForm(request, entered)}
<p class="note">The messages of the last week, newest first. Contents are encrypted, and recipients are masked.</p>
${messageTable(application, filter.mode, found)}
${next && html`<p><a href="?${older.toString()}">Older messages</a></p>`}`
  return applicationPage(application, '/messages', main, { message: message ?? done })
}

/** How many messages wait for another attempt, and the button that sends these. */
async function waitingForm(
  { operator, account, application }: PageRequest,
  entered: Entered,
): Promise<Html | false> {
  // They are counted and sent by method and carrier only.
  const isFilteredOtherwise = entered.from || entered.to || !['', 'queued'].includes(entered.state)
  if (isFilteredOtherwise || !isAtLeast(account.role, 'support')) return false
  const until = Date.now()
  const count = await operator.countWaiting(waitingFilter(application, entered))
  if (count === 0) return false
  const action = `${applicationPath(application, '/messages/retry')}?${String(new URLSearchParams(entered))}`
  return buttonForm(action, `Send ${countNoun(count, 'waiting message')} now`, { until })
}

function filterForm(application: string, entered: Entered): Html {
  return html`<form class="form-row" method="get" action="${applicationPath(application, '/messages')}">
${select('state', 'State', STATES, entered.state)}
${select('channel', 'Method', CHANNELS, entered.channel)}
<div class="field"><label for="carrier">Carrier</label><input id="carrier" name="carrier" value="${entered.carrier}"></div>
<div class="field"><label for="from">From (UTC)</label><input id="from" name="from" type="date" value="${entered.from}"></div>
<div class="field"><label for="to">To (UTC)</label><input id="to" name="to" type="date" value="${entered.to}"></div>
<div class="field"><label for="mode">Keys</label><select id="mode" name="mode"><option>live</option>
<option${entered.mode === 'test' && html` selected`}>test</option></select></div>
<button class="small-button">Show</button></form>`
}

function select(name: string, label: string, options: readonly string[], selected: string): Html {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">
<option value="">all</option>${options.map(
    (option) => html`<option${option === selected && html` selected`}>${option}</option>`,
  )}</select></div>`
}

function messageTable(application: string, mode: 'live' | 'test', { messages, next }: MessagePage): Html {
  return cardTable(
    'Messages',
    ['Created', 'Method', 'To', 'State', 'Why', 'Attempts', 'Carrier', 'Message'],
    messages.map((message) => row(application, mode, message)),
    next
      ? 'None of the messages that were looked at match. There are older ones.'
      : 'There are no such messages.',
  )
}

function row(
  application: string,
  mode: 'live' | 'test',
  { createdAt, channel, to, state, attempts, carrier, fault, detail, id }: DeliverySummary,
) {
  return [
    ...[new Date(createdAt), channel, to],
    html`<span class="badge${MESSAGE_TONES[state] ?? ''}">${state}</span>`,
    ...[detail ?? fault, attempts, carrier],
    html`<a href="${messagePath({ application, mode, id })}"><code>${id}</code></a>`,
  ]
}
