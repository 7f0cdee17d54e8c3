import { type Html, html } from '../../html.js'
import { diagnoseStore } from '../../operator/diagnose-store.js'
import { isProduction } from '../../production.js'
import { CHART_SCRIPTS, type Page, type PageRequest, type PageRoute } from '../page.js'
import { table, timeOf } from '../parts.js'
import { numbersSection } from './numbers.js'

/** The numbers of all applications, the queue, and what the doctor finds in the store. It changes nothing. */
export const HEALTH_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: '/console/health', least: 'viewer', handle: healthPage },
]

const BADGES = { ok: ' badge-good', warning: '', error: ' badge-bad' } as const

async function healthPage(request: PageRequest): Promise<Page> {
  return {
    title: 'Health and numbers',
    section: 'health',
    scripts: CHART_SCRIPTS,
    main: html`<p class="note">Of all applications together. The page of each application has its own numbers. Counts are a second old, and
those of test keys are left out.</p>
${await numbersSection(request, undefined)}
<h2>Queue</h2>${await queueFacts(request)}
<h2>Findings of the doctor</h2>${await findings(request)}`,
  }
}

async function queueFacts({ operator }: PageRequest): Promise<Html> {
  const { waiting, due, oldestDueAt } = await operator.showQueue()
  return html`<dl class="facts">
<dt>Messages that wait</dt><dd>${atMost(waiting)}</dd>
<dt>Due by now</dt><dd>${atMost(due)}</dd>
<dt>Oldest due message</dt><dd>${oldestDueAt === null ? '–' : html`due since ${timeOf(oldestDueAt)}`}</dd>
</dl>`
}

function atMost(count: number): string {
  return count < 10_000 ? count.toLocaleString('en') : '10,000 or more'
}

async function findings({ parts }: PageRequest): Promise<Html> {
  const { store, keys, doctor } = parts
  const found = await diagnoseStore(store, keys, { production: isProduction(), ...doctor })
  return html`<p class="note">What <code>countersign-service doctor</code> finds in database, secrets, deliveries, keys and traffic. The command
checks the environment variables and asks the carriers, too. <a href="https://prometheus.io/">Prometheus</a> metrics are at
<code>/metrics</code>.</p>
${table(
  'Findings',
  ['Result', 'Subject', 'Finding'],
  found.map(({ severity, subject, message }) => [
    html`<span class="badge${BADGES[severity]}">${severity}</span>`,
    ...[subject, message],
  ]),
  'Nothing was checked.',
)}`
}
