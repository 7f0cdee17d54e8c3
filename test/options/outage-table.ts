/*
 * The sessions that go on while the service is down, for each kind of session. The documents show this table, and test/routers/outage-states.test.ts
 * drives an app through each of its rows.
 */

/** A kind of session while the service is down. */
export interface OutageRow {
  readonly session: string
  /** The event that ends the decision that was made at the sign-in. */
  readonly ends: string
  /** The status of a page, right after the service stopped and once `outage.keepSessions` is over. */
  readonly pages: readonly [number, number]
  /** The status behind a guard. */
  readonly guard: number
}

const CHANGE =
  'a change of factors through your app, in any process, within ten seconds; `login.recheck` (5 minutes) for any other'

/** The rows by the name under which the test sets them up. */
export const OUTAGE_ROWS = {
  verified: {
    session: 'verified: a second factor was shown',
    ends: 'the end of the session',
    pages: [200, 200],
    guard: 200,
  },
  skipped: {
    session: 'exempt: the policy said `skip`',
    ends: 'the end of the session',
    pages: [200, 200],
    guard: 503,
  },
  exempt: {
    session: 'exempt: the user needs no factor',
    ends: CHANGE,
    pages: [200, 503],
    guard: 503,
  },
  grace: {
    session: 'in a grace period',
    ends: 'the end of the period, or such a change',
    pages: [200, 503],
    guard: 503,
  },
  trusted: {
    session: 'a trusted browser',
    ends: 'the end of the trust, or such a change',
    pages: [200, 503],
    guard: 503,
  },
  changed: {
    session: 'any of the last three, once a factor was added',
    ends: 'it has ended',
    pages: [503, 503],
    guard: 503,
  },
  pending: {
    session: 'pending: the second factor is missing',
    ends: 'the second factor',
    pages: [401, 401],
    guard: 401,
  },
  signIn: {
    session: 'a sign-in, unless your own record says that the user has no factor',
    ends: '–',
    pages: [503, 503],
    guard: 503,
  },
} as const satisfies Readonly<Record<string, OutageRow>>

const WORDS: Readonly<Record<number, string>> = { 200: 'go on', 401: '401', 503: '503' }

/** The table in Markdown. */
export function outageTable(): string {
  const head = [
    'session',
    'its decision ends with',
    'pages',
    'after `outage.keepSessions` (1 hour)',
    'guards',
  ]
  const rows = Object.values<OutageRow>(OUTAGE_ROWS).map(({ session, ends, pages, guard }) => [
    session,
    ends,
    ...[...pages, guard].map((status) => WORDS[status] ?? String(status)),
  ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line), ''].join('\n')
}

/** The same in a sentence, for a document in this folder. */
export function outageSummary(folder = '.'): string {
  const rows = Object.entries<OutageRow>(OUTAGE_ROWS)
  const goOn = listOf(rows.filter(([, { pages }]) => pages[0] === 200).map(([name]) => NAMES[name] ?? name))
  const guarded = listOf(rows.filter(([, { guard }]) => guard === 200).map(([name]) => name))
  const page = folder === 'docs' ? 'outage.md' : 'docs/outage.md'
  return `While the service is down, pages of ${goOn} sessions go on, guards let ${guarded} sessions pass, and [sign-ins wait](${page}).`
}

function listOf(names: readonly string[]): string {
  const [last = '', ...others] = [...new Set(names)].reverse()
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`
}

const NAMES: Readonly<Record<string, string>> = { skipped: 'exempt' }
