import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HEADLINES } from './headlines.mjs'
import { quoteInReadme, quotesOf } from './readme-figures.mjs'
import { refusals } from './refusals.mjs'
import { byCase } from './results.mjs'
import { markdownTable, micros, ratioText, valueText } from './table.mjs'

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
  const rows = byCase(results).flatMap((one) => one.rows)
  const missed = rows.filter(({ byMajor }) => byMajor.some((row) => row?.reached === false))
  const shown = HEADLINES.flatMap((name) => rows.filter(({ what }) => what === name))
  const parts = {
    rounds: [...new Set(results.map((result) => result.rounds))].join(' or '),
    noise: `${Math.ceil(mostNoise(rows) * 100)} %`,
    table: markdownTable(
      ['What, beside what', ...majors.map((major) => `Node ${major}`), 'Target'],
      shown.map(shownRow),
    ),
    missed: missed.length === 0 ? 'None.' : missedTargets(missed, majors, floors),
    machines: machines(results),
  }
  return readFileSync(TEMPLATE, 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name])
}

/** How far one program that was measured twice differed at most. */
function mostNoise(rows) {
  const twice = rows.flatMap(({ byMajor }) => byMajor.map((row) => row?.sameTwice ?? 1))
  return Math.max(0, ...twice.map((ratio) => Math.abs(ratio - 1)))
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
    .map(([cause, lines]) => [...lines.map((line) => `- ${line}`), `\n  Cause: ${cause}.`].join('\n'))
    .join('\n')
}

function shownRow({ label, against, byMajor }) {
  return [
    against ? `${label}; ${against}` : label,
    ...byMajor.map((row) => (row ? cellText(row) : '–')),
    targetText(byMajor) || '–',
  ]
}

/** A ratio with the processor time of both sides, or a figure with its processor time. */
function cellText(row) {
  if (row.ratio) return `${ratioText(row)}: ${micros(row.ours)}; ${micros(row.theirs)}`
  return row.note?.includes('µs') ? `${valueText(row)} (${row.note})` : valueText(row)
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
