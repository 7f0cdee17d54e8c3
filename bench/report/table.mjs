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
  if (!row.ratio) return `${row.value} ${row.unit}`.trim()
  const { ours, theirs, ratio } = row
  return (
    `${micros(ours)} beside ${micros(theirs)} of processor time: ${ratio.processor.toFixed(2)}; ` +
    `${perSecond(ours)} beside ${perSecond(theirs)}: ${ratio.rate.toFixed(2)}`
  )
}

/** Processor time per request, in microseconds. */
export function micros({ processorUs }) {
  return `${Math.round(processorUs)} µs`
}

/** Requests per second. */
export function perSecond({ perSecond: rate }) {
  return `${Math.round(rate).toLocaleString('en')}/s`
}

/** The figure of a row: the ratio of processor time with that of the rates in brackets, or the value with its unit. */
export function valueText(row) {
  return row.ratio
    ? `${row.ratio.processor.toFixed(2)} (${row.ratio.rate.toFixed(2)})`
    : `${row.value} ${row.unit}`.trim()
}

/** A table in Markdown. */
export function markdownTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
