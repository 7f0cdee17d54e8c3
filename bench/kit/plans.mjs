/** The settings with which PostgreSQL logs the plan of every statement. */
export const EXPLAINED = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_format=json',
  'log_line_prefix=',
]

/** The statements in a log, in their order: `{ text, plan }[]`. */
export function plansIn(log) {
  return log
    .split(/^LOG: {2}duration: [\d.]+ ms {2}plan:\n/m)
    .slice(1)
    .map((entry) => {
      const lines = entry.split('\n')
      const end = lines.findIndex((line) => !line.startsWith('\t'))
      const { 'Query Text': text, Plan: plan } = JSON.parse(lines.slice(0, end).join('\n'))
      return { text, plan }
    })
}

/** The plan of a statement for any parameters, with the settings that PostgreSQL comes with. `query` runs a statement. */
export async function planWithDefaults(query, text) {
  const parameters = new Set([...text.matchAll(/\$\d+/g)].map(([name]) => name))
  await query("SET plan_cache_mode = 'force_generic_plan'")
  await query(`PREPARE explained AS ${text}`)
  try {
    const values = parameters.size > 0 ? `(${Array(parameters.size).fill('NULL').join(', ')})` : ''
    const { rows } = await query(`EXPLAIN (FORMAT JSON) EXECUTE explained${values}`)
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await query('DEALLOCATE explained')
  }
}

/**
 * Those of the large tables that a plan reads as a whole: row by row, or in the order of an index, without a limit. A partial
 * index has few of the rows, such as the queued messages. `among` has the names of the large `tables` and the `partial` indexes.
 */
export function wholeScans(plan, among, isLimited = false) {
  const { 'Node Type': node, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = plan
  const isOrdered = /^Index (Only )?Scan$/.test(node) && condition === undefined && !among.partial.has(index)
  const readsAll = (node === 'Seq Scan' || isOrdered) && !isLimited
  const own = readsAll && among.tables.has(table) ? [table] : []
  const isLimit = node === 'Limit' || (isLimited && !MUST_READ_ALL.includes(node))
  return [...own, ...(plan.Plans ?? []).flatMap((child) => wholeScans(child, among, isLimit))]
}

/** Steps that read all of their input before their first row. */
const MUST_READ_ALL = ['Sort', 'Aggregate', 'Hash']

/** A plan as text without costs, so that it changes only when the plan does. Equal partitions are written once. */
export function describePlan(plan, indent = '') {
  const index = plan['Index Name'] ? ` using ${plan['Index Name']}` : ''
  const relation = plan['Relation Name'] ?? plan['CTE Name'] ?? plan['Function Name']
  const kind = plan['Node Type'] === 'ModifyTable' ? plan.Operation : plan['Node Type']
  const step = plan['Subplan Name'] ? `${plan['Subplan Name']}: ` : ''
  const head = `${indent}${step}${kind}${index}${relation ? ` on ${relation}` : ''}`
  const conditions = ['Index Cond', 'Recheck Cond', 'Join Filter', 'Hash Cond', 'Filter', 'One-Time Filter']
    .filter((name) => plan[name])
    .map((name) => `${indent}    ${name}: ${plan[name]}`)
  const children = (plan.Plans ?? []).map((child) => describePlan(child, `${indent}  `))
  return withoutRepetition([[head, ...conditions].join('\n'), ...children]).join('\n')
}

function withoutRepetition(blocks) {
  const general = blocks.map((block) =>
    block.replaceAll(/outbox_\d+/g, 'outbox_*').replaceAll(/(_\*_\w+?idx)\d*/g, '$1'),
  )
  return general.filter((block, i) => i === 0 || block !== general[i - 1])
}
