import { CHALLENGE, LOGIN } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { signInStep } from './sign-in-step.mjs'
import { BY_HAND } from './verify.mjs'

export const title = 'POST /mfa/challenge, everything in memory'
export const meaning = `Each request has a code sent to a user of its own. By hand, with Passport, that is one counter per account, one call by undici
and the challenge in the session. Countersign keeps limits for ten minutes and for a day and a wait between two codes.`

export async function run(bench) {
  return compare(bench, {
    what: '`POST /mfa/challenge`, a code by SMS',
    sides: challengeSides(bench),
    targets: { [BY_HAND]: 0.65 },
    parts: [BY_HAND],
  })
}

/** The same step with Countersign and by hand. */
export function challengeSides(bench, options) {
  const side = { before: [LOGIN], step: CHALLENGE, answer: '"challenged"' }
  return [
    async (name = 'countersign') =>
      signInStep({ name, app: await bench.start('countersign', options), ...side }),
    async () => signInStep({ name: BY_HAND, app: await bench.start('by-hand', options), ...side }),
  ]
}
