import { inspect } from 'node:util'

/**
 * Runs one check for every case, one after the other. A failure names its case in front of its message. A list without cases
 * fails, because nothing was checked.
 */
export function everyCase<Case extends unknown[] | [unknown]>(
  cases: readonly Case[],
  check: (one: Case) => unknown,
): Promise<void>
export function everyCase<Case>(cases: Iterable<Case>, check: (one: Case) => unknown): Promise<void>
export async function everyCase(cases: Iterable<unknown>, check: (one: never) => unknown): Promise<void> {
  let count = 0
  for (const one of cases) {
    count++
    try {
      await check(one as never)
    } catch (error) {
      if (error instanceof Error) error.message = `in the case ${nameOf(one)}: ${error.message}`
      throw error
    }
  }
  if (count === 0) throw new Error('There are no cases to check.')
}

function nameOf(one: unknown): string {
  return typeof one === 'string' ? JSON.stringify(one) : inspect(one, { depth: 1, breakLength: Infinity })
}
