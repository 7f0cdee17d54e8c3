import { html } from '../../html.js'
import { computePercent, conversionState } from '../../operator/activity.js'
import type { PhoneTrafficSummary } from '../../operator/phone-traffic.js'
import { isAtLeast } from '../../operator/rights.js'
import { attempt } from '../form.js'
import type { Page, PageMessage, PageRequest, PageRoute, Reply } from '../page.js'
import { buttonForm, cardTable } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, applicationPath } from './applications.js'
import { conversionBadge } from './numbers.js'

const PATH = `${APPLICATIONS_PATH}/:application/traffic`

/** Codes sent and typed, by country and prefix: a share that drops is a sign of SMS pumping. */
export const TRAFFIC_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: PATH, least: 'viewer', handle: (request) => trafficPage(request) },
  { method: 'post', path: `${PATH}/pause`, least: 'support', handle: (request) => change(request, 'pause') },
  {
    method: 'post',
    path: `${PATH}/resume`,
    least: 'support',
    handle: (request) => change(request, 'resume'),
  },
]

async function change(request: PageRequest, action: 'pause' | 'resume'): Promise<Reply> {
  const { application } = request
  const destination = request.form.text('destination')
  const { pauseTraffic, resumeTraffic } = request.operator
  const [work, done] =
    action === 'pause'
      ? [pauseTraffic, `Nothing is sent to ${destination} any more.`]
      : [resumeTraffic, `Messages to ${destination} are sent again.`]
  return trafficPage(request, await attempt(() => work(application, destination), done))
}

async function trafficPage(request: PageRequest, message?: PageMessage): Promise<Page> {
  const { application } = request
  const traffic = await request.operator.showTraffic(application)
  const mayChange = isAtLeast(request.account.role, 'support')
  const main = html`<p class="note">Codes sent to phones and typed by users: of today, and half as many of each day before. The destinations with the
most untyped codes come first. Codes that nobody types are a sign of SMS pumping.</p>
${cardTable(
  'Traffic to phones',
  ['Destination', 'This hour', 'Sent', 'Typed', 'Share', 'State', ...(mayChange ? ['Change'] : [])],
  traffic.map((country) => [...row(country), ...(mayChange ? [button(application, country)] : [])]),
  'No codes were sent to phones.',
)}
${
  mayChange &&
  html`<h2>Pause a destination</h2><form class="form-row" method="post" action="${applicationPath(application, '/traffic/pause')}">
<div class="field"><label for="destination">Country or prefix</label>
<input id="destination" name="destination" required autocomplete="off" aria-describedby="destination-hint">
<span class="mfa-hint" id="destination-hint">GB, or +44770090</span></div><button class="small-button">Pause</button></form>`
}`
  return applicationPage(application, '/traffic', main, { message })
}

function row({ destination, thisHour, sent, typed, pausedAt }: PhoneTrafficSummary) {
  const percent = computePercent({ codes: sent, typed })
  const state =
    pausedAt !== null
      ? html`<span class="badge badge-bad">paused</span>`
      : conversionBadge(conversionState({ codes: sent, typed }))
  return [destination, thisHour, sent, typed, percent === null ? null : `${percent} %`, state]
}

function button(application: string, { destination, pausedAt }: PhoneTrafficSummary) {
  const [action, label] = pausedAt === null ? ['pause', 'Pause'] : ['resume', 'Resume']
  const path = applicationPath(application, `/traffic/${action}`)
  return buttonForm(path, label, { destination }, `${label} ${destination}`)
}
