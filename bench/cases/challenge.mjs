import { CHALLENGE, LOGIN } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'POST /mfa/challenge, everything in memory'
export const meaning = `Each request has a code sent to a user of its own. By hand, with Passport, that is one counter per account, one call by undici
and the challenge in the session. Countersign keeps limits for ten minutes and for a day and a wait between two codes.`

export async function run(bench) {
  return compare(bench, {
    what: '`POST /mfa/challenge`, a code by SMS',
    sides: await challengeSides(bench),
    targets: { 'by hand with Passport': 0.85 },
  })
}

/** The same step with Countersign and by hand. */
export async function challengeSides(bench, options) {
  const side = { before: [LOGIN], step: CHALLENGE, answer: '"challenged"' }
  return [
    signInStep({ name: 'countersign', app: await bench.start('countersign', options), ...side }),
    signInStep({ name: 'by hand with Passport', app: await bench.start('by-hand', options), ...side }),
  ]
}
