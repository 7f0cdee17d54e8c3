import { CHALLENGE, LOGIN, VERIFY } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'POST /mfa/verify, everything in memory'
export const meaning = `Each request gives the right code of a live challenge, for a user and a session of its own: it is counted, checked by a
service on this machine that answers at once, and followed by a new session that is saved. By hand, with Passport, that is
one counter per account, one call by undici, \`regenerate\` and \`save\`. Countersign counts by challenge and by account, looks
at locks, lets one of several right answers win, and emits events besides.`

export async function run(bench) {
  return compare(bench, {
    what: '`POST /mfa/verify`, a right code',
    sides: await verifySides(bench),
    targets: { 'by hand with Passport': 0.85 },
  })
}

/** The same step with Countersign and by hand. */
export async function verifySides(bench, options) {
  const side = { before: [LOGIN, CHALLENGE], step: VERIFY, answer: '"verified"' }
  return [
    signInStep({ name: 'countersign', app: await bench.start('countersign', options), ...side }),
    signInStep({ name: 'by hand with Passport', app: await bench.start('by-hand', options), ...side }),
  ]
}
