import { type Html, html } from '../../html.js'
import {
  ACTIVITY_PERIODS,
  type ActivityCounts,
  type ActivityGroup,
  type ActivityPeriod,
  type ActivityReport,
  type ConversionState,
  type CountryActivity,
} from '../../operator/activity.js'
import { CHART_SCRIPTS, type PageRequest, type PageRoute, type Reply } from '../page.js'
import { type Cell, table } from '../parts.js'
import { APPLICATIONS_PATH, applicationPage, readText } from './applications.js'

/** The numbers of one application. */
export const NUMBER_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: `${APPLICATIONS_PATH}/:application/numbers`, least: 'viewer', handle: numbersPage },
]

async function numbersPage(request: PageRequest): Promise<Reply> {
  const { application } = request
  const main = await numbersSection(request, application)
  return applicationPage(application, '/numbers', main, { scripts: CHART_SCRIPTS })
}

const PERIODS: Readonly<Record<ActivityPeriod, string>> = {
  hour: 'Last hour',
  day: 'Last day',
  month: 'Last month',
}

/** Charts and tables of what was sent and typed, for one application or all of them. The query names the period. */
export async function numbersSection(
  { operator, request }: PageRequest,
  application: string | undefined,
): Promise<Html> {
  const wanted = readText(request.query.period)
  const period = (Object.keys(PERIODS) as ActivityPeriod[]).find((name) => name === wanted) ?? 'day'
  const report = await operator.showActivity({ application, period })
  const isByDay = period === 'month'
  return html`<nav class="console-tabs" aria-label="Period"><ul>
${Object.entries(PERIODS).map(
  ([name, label]) =>
    html`<li><a href="?period=${name}"${name === period && html` aria-current="page"`}>${label}</a></li>`,
)}</ul></nav>
<div id="numbers" data-step="${ACTIVITY_PERIODS[period].stepMs}">
${warnings(report.countries)}
${totals(report)}
<div class="charts" data-charts></div>
<details open><summary>Numbers by time (${isByDay ? 'UTC' : html`<span data-zone>UTC</span>`})</summary>
${table(
  'Numbers by time',
  ['Time', ...COUNTS.map(({ name }) => name)],
  report.steps.map(({ startsAt, ...counts }) => [stepCell(startsAt, isByDay), ...cells(counts)]),
  '',
)}</details>
<h2 id="countries">Countries</h2>
<p class="note">Codes sent to phones, and how many of them were typed. A warning appears where none of 10 or fewer than a quarter of 20
were typed, or less than half of the share of the period before. Codes that nobody types are a sign of SMS pumping.</p>
${table('Countries', COUNTRY_HEADINGS, report.countries.map(countryRow), 'No codes were sent to phones.')}
${phoneChecks(report)}
<h2>Methods</h2>
${groupTable('Methods', 'Method', report.methods)}
<h2 id="carriers">Carriers</h2>
${groupTable('Carriers', 'Carrier', report.carriers)}
</div>`
}

const COUNTS = [
  { count: 'sent', name: 'Sent' },
  { count: 'delivered', name: 'Delivered' },
  { count: 'failed', name: 'Failed' },
  { count: 'codes', name: 'Codes' },
  { count: 'typed', name: 'Typed' },
  { count: 'wrong', name: 'Wrong' },
  { count: 'locked', name: 'Locked' },
] as const

function cells(counts: ActivityCounts): number[] {
  return COUNTS.map(({ count }) => counts[count])
}

function totals({ steps }: ActivityReport): Html {
  const sum = (count: keyof ActivityCounts) => steps.reduce((total, step) => total + step[count], 0)
  return html`<dl class="totals">${COUNTS.map(
    ({ count, name }) => html`<div><dt>${name}</dt><dd>${sum(count).toLocaleString('en')}</dd></div>`,
  )}</dl>`
}

function warnings(countries: readonly CountryActivity[]): Html | false {
  const low = countries.filter(({ conversion }) => conversion === 'low')
  if (low.length === 0) return false
  return html`<div class="mfa-message mfa-message-error" role="status"><p>Few codes are typed in ${low
    .map(({ name, percent, percentBefore }) => {
      const before = percentBefore === null ? '' : `, before ${percentBefore} %`
      return `${name} (${percent} %${before})`
    })
    .join(', ')}. It may be SMS pumping: see the traffic of the applications that send there.</p></div>`
}

const COUNTRY_HEADINGS = [
  'Country',
  'Codes',
  'Typed',
  'Share',
  'Share before',
  'Delivered',
  'Failed',
  'Wrong',
  'State',
]

function countryRow({ name, percent, percentBefore, conversion, ...counts }: CountryActivity): Cell[] {
  return [
    ...[name, counts.codes, counts.typed, share(percent), share(percentBefore)],
    ...[counts.delivered, counts.failed, counts.wrong],
    conversionBadge(conversion),
  ]
}

/** The badge for the share of typed codes. */
export function conversionBadge(conversion: ConversionState): Html {
  if (conversion === 'low') return html`<span class="badge badge-bad">few are typed</span>`
  if (conversion === 'fine') return html`<span class="badge badge-good">fine</span>`
  return html`<span class="badge">too few to tell</span>`
}

/** Absent where nothing was asked. */
function phoneChecks({ steps, countries }: ActivityReport): Html | false {
  if (steps.every(({ checked }) => checked === 0)) return false
  const asked = countries.filter(({ checked }) => checked > 0)
  return html`<h2>Phone check</h2>
<p class="note">How often the phone check was asked before a code was sent, the codes that it refused, and the questions without an answer.</p>
${table(
  'Phone check',
  ['Country', 'Asked', 'Refused', 'Without answer'],
  asked.map(({ name, checked, risky, unchecked }) => [name, checked, risky, unchecked]),
  'It was asked about numbers of no country.',
)}`
}

function share(percent: number | null): string | null {
  return percent === null ? null : `${percent} %`
}

function groupTable(label: string, heading: string, groups: readonly ActivityGroup[]): Html {
  return table(
    label,
    [heading, ...COUNTS.map(({ name }) => name)],
    groups.map(({ name, ...counts }) => [name, ...cells(counts)]),
    'Nothing was sent or typed.',
  )
}

/** A step is shown by its day, which is one in UTC, or by its time of day. */
function stepCell(startsAt: number, isByDay: boolean): Html {
  const iso = new Date(startsAt).toISOString()
  if (isByDay) return html`<time datetime="${iso}">${iso.slice(0, 10)}</time>`
  return html`<time datetime="${iso}" data-local="time">${iso.slice(11, 16)}</time>`
}
