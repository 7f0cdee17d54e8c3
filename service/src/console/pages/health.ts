import { type Html, html } from '../../html.js'
import { diagnoseStore } from '../../operator/diagnose-store.js'
import type { Diagnostic } from '../../operator/diagnostic.js'
import { isProduction } from '../../process/production.js'
import { CHART_SCRIPTS, type Page, type PageRequest, type PageRoute } from '../page.js'
import { type Cell, cardTable, countOf, renderTime } from '../parts.js'
import { applicationPath } from './applications.js'
import { endpointPath } from './events.js'
import { numbersSection } from './numbers.js'
import { settingPath, spellName } from './settings.js'

/** The path of the page. */
export const HEALTH_PATH = '/console/health'

/** The numbers of all applications, the queue, and what the doctor finds in the store. It changes nothing. */
export const HEALTH_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: HEALTH_PATH, least: 'viewer', handle: healthPage },
]

const BADGES = { ok: ' badge-good', 'no data': '', warning: ' badge-warn', error: ' badge-bad' } as const

async function healthPage(request: PageRequest): Promise<Page> {
  return {
    title: 'Health and numbers',
    section: 'health',
    scripts: CHART_SCRIPTS,
    main: html`<p class="note">Of all applications together. The page of each application has its own numbers. Counts are a second old, and
those of test keys are left out.</p>
${await numbersSection(request, undefined)}
<h2 id="queue">Queue</h2>${await queueFacts(request)}
<h2 id="findings">Findings of the doctor</h2>${await findings(request)}`,
  }
}

/** How many messages wait, and for how long. */
async function queueFacts({ operator }: PageRequest): Promise<Html> {
  const { waiting, due, oldestDueAt } = await operator.showQueue()
  return html`<dl class="facts">
<dt>Messages that wait</dt><dd>${countOf(waiting)}</dd>
<dt>Due by now</dt><dd>${countOf(due)}</dd>
<dt>Oldest due message</dt><dd>${oldestDueAt === null ? '–' : html`due since ${renderTime(oldestDueAt)}`}</dd>
</dl>`
}

async function findings(request: PageRequest): Promise<Html> {
  return html`<p class="note">What <code>countersign-service doctor</code> finds in database, secrets, deliveries, keys and traffic. The command
checks the environment variables and asks the carriers, too. <a href="https://prometheus.io/">Prometheus</a> metrics are at
<code>/metrics</code>.</p>
${findingsTable('Findings', (await diagnose(request)).map(findingRow))}`
}

/** The findings, row by row: how bad it is, its subject, and a sentence. */
export function findingsTable(label: string, rows: readonly (readonly Cell[])[]): Html {
  return html`<div class="findings">${cardTable(label, ['Result', 'Subject', 'Finding'], rows, '')}</div>`
}

/** The findings of the doctor in the store. */
export function diagnose({ parts: { store, keys, doctor } }: PageRequest): Promise<Diagnostic[]> {
  return diagnoseStore(store, keys, { production: isProduction(), ...doctor })
}

/** How a result is shown. */
export function severityBadge(severity: Diagnostic['severity']): Html {
  return html`<span class="badge${BADGES[severity]}">${severity}</span>`
}

/** A finding in a table, with a link to what it is about. */
export function findingRow(finding: Diagnostic): Cell[] {
  const { severity, subject } = finding
  const isProblem = severity === 'warning' || severity === 'error'
  const name = isProblem ? html`<a href="${pageAbout(finding)}">${subject}</a>` : subject
  const { setting } = finding.about ?? {}
  const link =
    setting !== undefined && html` Setting: <a href="${pageAbout(finding)}">${spellName(setting)}</a>.`
  return [severityBadge(severity), name, html`${sentence(finding)}${isProblem && link}`]
}

/** The message, with a link to the setting of each of several applications that it names. */
function sentence({ message, about }: Diagnostic): Html {
  return html`${message
    .split(/(?<=")([a-z\d-]+)(?=")/)
    .map((part) =>
      about?.setting !== undefined && about.applications?.includes(part)
        ? html`<a href="${settingPath(part, about.setting)}">${part}</a>`
        : html`${part}`,
    )}`
}

const PAGES: Readonly<Partial<Record<Diagnostic['subject'], string>>> = {
  'API keys': '/keys',
  traffic: '/traffic',
  'locked users': '/locked',
}
/** The numbers of all applications that a finding about none of them is computed from. */
const NUMBERS: Readonly<Partial<Record<Diagnostic['subject'], string>>> = {
  deliveries: 'carriers',
  traffic: 'countries',
}

function pageAbout({ subject, about }: Diagnostic): string {
  if (!about) return `${HEALTH_PATH}#${NUMBERS[subject] ?? 'findings'}`
  const { application, setting, endpoint } = about
  if (endpoint !== undefined) return endpointPath(application, endpoint)
  return setting === undefined
    ? applicationPath(application, PAGES[subject])
    : settingPath(application, setting)
}
