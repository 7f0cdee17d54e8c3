/** Prints the rows of a case, one block for each. */
export function printRows(rows) {
  for (const row of rows) {
    const verdict = row.reached === undefined ? '' : row.reached ? ' – reached' : ' – NOT REACHED'
    const target = row.target === undefined ? '' : `; target ${row.target}${verdict}`
    console.log(`  ${row.what}${row.against ? `, beside ${row.against}` : ''}`)
    console.log(`    ${describe(row)}${target}`)
    if (row.note) console.log(`    ${row.note}`)
  }
}

function describe(row) {
  const spread = row.quartiles
    ? `; quartiles ${quartilesText(row)}, the same program twice ${sameTwiceText(row)}`
    : ''
  if (!row.ratio) return `${row.value} ${row.unit}`.trim() + spread
  const { ours, theirs, ratio } = row
  return (
    `${micros(ours)} beside ${micros(theirs)} of processor time: ${ratio.processor.toFixed(2)}; ` +
    `${perSecond(ours)} beside ${perSecond(theirs)}: ${ratio.rate.toFixed(2)}${spread}`
  )
}

/** Processor time per request, in microseconds. */
export function micros({ processorUs }) {
  return `${Math.round(processorUs)} µs`
}

/** Requests per second. */
function perSecond({ perSecond: rate }) {
  return `${Math.round(rate).toLocaleString('en')}/s`
}

/** The quartiles of a row's figure over its rounds. */
function quartilesText({ ratio, quartiles }) {
  if (!quartiles) return '–'
  return quartiles.map((value) => (ratio ? value.toFixed(2) : value)).join(' to ')
}

/** The ratio of two measurements of the same program. */
function sameTwiceText({ sameTwice }) {
  return sameTwice === undefined ? '–' : sameTwice.toFixed(2)
}

/**
 * The figure of a row: the ratio of processor time with that of the rates in brackets, or that of the rates if the row is judged by
 * them, or the value with its unit.
 */
export function valueText({ ratio, by, value, unit }) {
  if (!ratio) return `${value} ${unit}`.trim()
  const [processor, rate] = [ratio.processor.toFixed(2), ratio.rate.toFixed(2)]
  return by === 'rate' ? `${rate} by rate` : `${processor} (${rate})`
}

/** The ratio that a row is judged by. */
export function ratioText({ ratio, by }) {
  return by === 'rate' ? `${ratio.rate.toFixed(2)} by rate` : ratio.processor.toFixed(2)
}

/** A table in Markdown. */
export function markdownTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
