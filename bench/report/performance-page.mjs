import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { micros, perSecond } from './table.mjs'

const PAGE = fileURLToPath(new URL('../../docs/performance.md', import.meta.url))
const FLOORS = new URL('./floors.json', import.meta.url)
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
 * Writes the page of the results. Why a target is not reached is written by hand in `floors.json`, by the name of the row.
 * @throws {Error} for results of quick runs, which are too short to be published, unless they go to another file.
 */
export function writePage(results, output = PAGE) {
  const quick = results.filter(({ isQuick }) => isQuick)
  if (quick.length > 0 && output === PAGE) {
    throw new Error(
      `docs/performance.md is written from full runs, and these were quick: ${quick.map(({ name, major }) => `${name} on Node ${major}`).join(', ')}. Run them without --quick.`,
    )
  }
  const floors = existsSync(FLOORS) ? JSON.parse(readFileSync(FLOORS, 'utf8')) : {}
  writeFileSync(output, page(results, floors))
  console.log(`Wrote ${output}`)
}

function page(results, floors) {
  const majors = [...new Set(results.map(({ major }) => major))].sort((a, b) => a - b)
  const cases = byCase(results)
  const missed = cases.flatMap(({ rows }) =>
    rows.filter(({ byMajor }) => byMajor.some((row) => row?.reached === false)),
  )
  return `# Performance

\`npm run bench\` wrote this page. It measures Countersign beside the same work done without it, or done by another package,
in one run on one machine.

${howToRead(results)}

## Summary

${table(
  ['What', 'Beside', ...majors.map((major) => `Node ${major}`), 'Target', 'Reached'],
  cases.flatMap(({ rows }) => rows.filter(({ hasTarget }) => hasTarget).map((row) => summaryRow(row))),
)}

${cases.map((one) => section(one, majors)).join('\n\n')}

## Targets that are not reached

${missed.length === 0 ? 'None.' : missed.map((row) => `- **${row.label}**: ${floors[row.what] ?? 'the cause is not written down yet.'}`).join('\n')}

## Measured on

${machines(results)}
`
}

function howToRead(results) {
  const rounds = [...new Set(results.map((result) => result.rounds))].join(' or ')
  return `The sides of a comparison are measured in turn, in ${rounds} short rounds after some that do not count, each in a server process
of its own, with the load generator in another. Figures are medians of the rounds, and ratios are medians of each round's
ratio. Every response is checked; a wrong one ends the run.

- **Processor time** is what the server process uses for one request, with its garbage collection and its compiler threads, in
  microseconds. The rest of the machine does not change it much.
- **Ratios** are those of processor time unless said otherwise: 0.90 means that one core answers 90 % of the requests per
  second that it answers on the other side. Above 1, Countersign is the faster one. The ratio of the requests per second that
  were measured stands in brackets.
- Compare within one Node major. Express takes three times as long on Node 20 as on Node 24, whatever is built on it.`
}

function section({ name, title, meaning, rows }, majors) {
  const comparisons = rows.filter(({ isComparison }) => isComparison)
  const figures = rows.filter(({ isComparison }) => !isComparison)
  const parts = [`## ${title}`]
  if (meaning) parts.push(meaning)
  if (comparisons.length > 0) {
    parts.push(
      table(
        ['What', 'Node', 'Countersign', 'Beside it', 'Ratio', 'p99'],
        comparisons.flatMap((row) =>
          majors.flatMap((major, i) => (row.byMajor[i] ? [comparisonRow(row, major, row.byMajor[i])] : [])),
        ),
      ),
    )
  }
  if (figures.length > 0) {
    parts.push(
      table(
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

function comparisonRow({ label }, major, { against, ours, theirs, ratio, note }) {
  return [
    note ? `${label} (${note})` : label,
    String(major),
    `${micros(ours)}, ${perSecond(ours)}`,
    `${against}: ${micros(theirs)}, ${perSecond(theirs)}`,
    `${ratio.processor.toFixed(2)} (${ratio.rate.toFixed(2)})`,
    ours.p99Ms === undefined ? '–' : `${ours.p99Ms.toFixed(0)} ms, beside ${theirs.p99Ms.toFixed(0)} ms`,
  ]
}

function summaryRow({ label, against, byMajor }) {
  const reached = byMajor.flatMap((row) => (row?.reached === undefined ? [] : [row.reached]))
  const verdict = reached.every(Boolean) ? 'yes' : reached.some(Boolean) ? 'in part' : 'no'
  return [
    label,
    against ?? '–',
    ...byMajor.map((row) => (row ? valueText(row) : '–')),
    targetText(byMajor),
    verdict,
  ]
}

function valueText(row) {
  return row.ratio
    ? `${row.ratio.processor.toFixed(2)} (${row.ratio.rate.toFixed(2)})`
    : `${row.value} ${row.unit}`.trim()
}

function figureText(row) {
  return row.note ? `${valueText(row)} (${row.note})` : valueText(row)
}

function targetText(byMajor) {
  return [...new Set(byMajor.flatMap((row) => (row?.target === undefined ? [] : [String(row.target)])))].join(
    ' / ',
  )
}

/** The results of each case in the order of the first, with each row's results side by side, one for each major. */
function byCase(results) {
  const majors = [...new Set(results.map(({ major }) => major))].sort((a, b) => a - b)
  const names = [...new Set(results.map(({ name }) => name))]
  return names.map((name) => {
    const ofCase = majors.map((major) =>
      results.find((result) => result.name === name && result.major === major),
    )
    const { title, meaning } = ofCase.find(Boolean)
    const keys = new Set(ofCase.flatMap((result) => (result ? result.rows.map(keyOf) : [])))
    const rows = [...keys].map((key) => {
      const byMajor = ofCase.map((result) => result?.rows.find((row) => keyOf(row) === key))
      const { what, against, ratio } = byMajor.find(Boolean)
      return {
        what,
        against,
        label: what,
        byMajor,
        isComparison: ratio !== undefined,
        hasTarget: byMajor.some((row) => row?.target !== undefined),
      }
    })
    return { name, title, meaning, rows }
  })
}

function keyOf({ what, against }) {
  return `${what} | ${against ?? ''}`
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
    '',
    'To measure again: `npm run bench`. [All cases and options](../bench/README.md).',
  ].join('\n')
}

function versionOf(name) {
  const places = ['../../node_modules', '../node_modules'].map(
    (folder) => new URL(`${folder}/${name}/package.json`, import.meta.url),
  )
  const file = places.find((place) => existsSync(place))
  return file ? JSON.parse(readFileSync(file, 'utf8')).version : 'not installed'
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
