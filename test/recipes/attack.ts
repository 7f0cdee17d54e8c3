import { expect } from 'vitest'
import { findingsIn, runAttack } from '../kit/attack.js'

/** `npm run attack` attacks every recipe. Otherwise only the one with WebSockets is attacked, because each takes some seconds. */
export const ATTACKS_EVERY_RECIPE = process.env.ATTACK_EVERY_RECIPE === 'true'

/** The attacks that can be tried with one user who has one factor, in an app that remembers no browser. */
const TRIED = [
  'pending-session',
  'code-in-answer',
  'session-fixation',
  'code-reuse',
  'return-address',
  'cross-site-post',
  'wrong-code',
  'mailbox-flood',
  'parallel-guesses',
]

/**
 * Attacks a recipe, in which bob has a password unless the arguments have another sign-in, and expects that everything holds which can be
 * tried.
 * @param more - what can be tried beside `TRIED`
 */
export async function expectHeld(
  url: string,
  args: readonly string[],
  more: readonly string[] = [],
): Promise<void> {
  const { report } = await runAttack(url, ['--sign-in', 'POST /login username=bob&password=$BOB', ...args], {
    BOB: 'a good password',
  })
  expect(report.findings.filter(({ verdict }) => verdict === 'broken')).toEqual([])
  expect(findingsIn(report, 'held')).toEqual(expect.arrayContaining([...TRIED, ...more]))
}
