import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { quoteInReadme, quotesOf } from './readme-figures.mjs'
import { refusals } from './refusals.mjs'
import { byCase } from './results.mjs'
import { markdownTable, micros, perSecond, quartilesText, sameTwiceText, valueText } from './table.mjs'

const PAGE = fileURLToPath(new URL('../performance.md', import.meta.url))
const TEMPLATE = new URL('./performance.template.md', import.meta.url)
const FLOORS = new URL('./floors.json', import.meta.url)
const GUARD = new URL('../guard.json', import.meta.url)
const PACKAGES = [
  'express',
  'express-session',
  'passport',
  'undici',
  'redis',
  'connect-redis',
  'pg',
  'nodemailer',
  'passport-totp',
  'better-auth',
]

/**
 * Writes the page of the results, and what Countersign costs into the README. Its prose is in `performance.template.md`, and why a
 * target is not reached is written by hand in `floors.json`, by the name of the row.
 * @throws {Error} for results that must not be published, unless they go to another file: those of quick runs, which are too short, and
 * those that `refusals` names.
 */
export function writePage(results, output = PAGE) {
  const quick = results.filter(({ isQuick }) => isQuick)
  if (quick.length > 0 && output === PAGE) {
    throw new Error(
      `bench/performance.md is written from full runs, and these were quick: ${quick.map(({ name, major }) => `${name} on Node ${major}`).join(', ')}. Run them without --quick.`,
    )
  }
  const floors = existsSync(FLOORS) ? JSON.parse(readFileSync(FLOORS, 'utf8')) : {}
  const text = page(results, floors)
  if (output === PAGE) {
    const guard = JSON.parse(readFileSync(GUARD, 'utf8'))
    const reasons = refusals({ results, quotes: quotesOf(text), guard })
    if (reasons.length > 0) {
      throw new Error(`bench/performance.md and the README are as they were:\n\n${reasons.join('\n')}`)
    }
  }
  writeFileSync(output, text)
  console.log(`Wrote ${output}`)
  if (output === PAGE) quoteInReadme()
}

function page(results, floors) {
  const majors = [...new Set(results.map(({ major }) => major))].sort((a, b) => a - b)
  const cases = byCase(results)
  const rows = cases.flatMap((one) => one.rows)
  const missed = rows.filter(({ byMajor }) => byMajor.some((row) => row?.reached === false))
  const parts = {
    rounds: [...new Set(results.map((result) => result.rounds))].join(' or '),
    summary: markdownTable(
      ['What', 'Beside', ...majors.map((major) => `Node ${major}`), 'Target', 'Reached'],
      rows.filter(({ hasTarget, isComparison }) => hasTarget || isComparison).map(summaryRow),
    ),
    cases: cases.map((one) => section(one, majors)).join('\n\n'),
    missed: missed.length === 0 ? 'None.' : missedTargets(missed, majors, floors),
    machines: machines(results),
  }
  return readFileSync(TEMPLATE, 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name])
}

/** The targets that are not reached, by their cause, with what was measured. */
function missedTargets(rows, majors, floors) {
  const byCause = new Map()
  for (const row of rows) {
    const measured = majors.flatMap((major, i) =>
      row.byMajor[i] ? [`${valueText(row.byMajor[i])} on Node ${major}`] : [],
    )
    const line = `**${row.label}**: ${measured.join(', ')}; target ${targetText(row.byMajor)}`
    const cause = floors[row.what] ?? 'the cause is not written down yet'
    byCause.set(cause, [...(byCause.get(cause) ?? []), line])
  }
  return [...byCause]
    .map(([cause, lines]) => `Cause: ${cause}.\n\n${lines.map((line) => `- ${line}`).join('\n')}`)
    .join('\n\n')
}

function section({ name, title, meaning, rows }, majors) {
  const comparisons = rows.filter(({ isComparison }) => isComparison)
  const figures = rows.filter(({ isComparison }) => !isComparison)
  const parts = [`## ${title}`]
  if (meaning) parts.push(meaning)
  if (comparisons.length > 0) {
    parts.push(
      markdownTable(
        ['What', 'Node', 'Countersign', 'Beside it', 'Ratio', 'Quartiles', 'Same twice', 'p99'],
        comparisons.flatMap((row) =>
          majors.flatMap((major, i) => (row.byMajor[i] ? [comparisonRow(row, major, row.byMajor[i])] : [])),
        ),
      ),
    )
  }
  if (figures.length > 0) {
    parts.push(
      markdownTable(
        ['What', ...majors.map((major) => `Node ${major}`), 'Target'],
        figures.map(({ label, byMajor }) => [
          label,
          ...byMajor.map((row) => (row ? figureText(row) : '–')),
          targetText(byMajor) || '–',
        ]),
      ),
    )
  }
  parts.push(`\`npm run bench -- ${name}\``)
  return parts.join('\n\n')
}

function comparisonRow({ label }, major, row) {
  const { against, ours, theirs, note } = row
  return [
    note ? `${label} (${note})` : label,
    String(major),
    `${micros(ours)}, ${perSecond(ours)}`,
    `${against}: ${micros(theirs)}, ${perSecond(theirs)}`,
    valueText(row),
    quartilesText(row),
    sameTwiceText(row),
    ours.p99Ms === undefined ? '–' : `${ours.p99Ms.toFixed(0)} ms, beside ${theirs.p99Ms.toFixed(0)} ms`,
  ]
}

function summaryRow({ label, against, byMajor }) {
  const reached = byMajor.flatMap((row) => (row?.reached === undefined ? [] : [row.reached]))
  const isAll = reached.every(Boolean) ? 'yes' : reached.some(Boolean) ? 'in part' : 'no'
  const verdict = reached.length === 0 ? '–' : isAll
  return [
    label,
    against ?? '–',
    ...byMajor.map((row) => (row ? valueText(row) : '–')),
    targetText(byMajor) || '–',
    verdict,
  ]
}

function figureText(row) {
  const spread = row.quartiles
    ? `quartiles ${quartilesText(row)}, same twice ${sameTwiceText(row)}`
    : undefined
  const more = [spread, row.note].filter(Boolean).join('; ')
  return more ? `${valueText(row)} (${more})` : valueText(row)
}

function targetText(byMajor) {
  return [...new Set(byMajor.flatMap((row) => (row?.target === undefined ? [] : [String(row.target)])))].join(
    ' / ',
  )
}

function machines(results) {
  const lines = results.map(({ machine, nodeVersion }) => {
    const { processor, cores, memoryGigabytes, system, commit, date } = machine
    return `${date}, commit ${commit}: ${cores} cores of ${processor}, ${memoryGigabytes} GB, ${system}, Node ${nodeVersion}`
  })
  const loads = results.flatMap(({ loadAverage }) => loadAverage)
  return [
    ...[...new Set(lines)].sort().map((line) => `- ${line}`),
    `- ${PACKAGES.map((name) => `${name} ${versionOf(name)}`).join(', ')}`,
    `- load average ${Math.min(...loads)} to ${Math.max(...loads)}, of which about 2 are the benchmark's own`,
  ].join('\n')
}

function versionOf(name) {
  const places = ['../../node_modules', '../node_modules'].map(
    (folder) => new URL(`${folder}/${name}/package.json`, import.meta.url),
  )
  const file = places.find((place) => existsSync(place))
  return file ? JSON.parse(readFileSync(file, 'utf8')).version : 'not installed'
}
