import { CHALLENGE, LOGIN, VERIFY } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'POST /mfa/verify, everything in memory'
export const meaning = `Each request gives the right code of a live challenge, for a user and a session of its own: it is counted, checked by a
service on this machine that answers at once, and followed by a new session that is saved. By hand, with Passport, that is
one counter per account, one call by undici, \`regenerate\` and \`save\`. Countersign counts by challenge and by account, looks
at locks, lets one of several right answers win, and emits events besides.`

/** The name of the other side. */
export const BY_HAND = 'by hand with Passport'

export async function run(bench) {
  return compare(bench, {
    what: '`POST /mfa/verify`, a right code',
    sides: verifySides(bench),
    targets: { [BY_HAND]: 0.55 },
    parts: [BY_HAND],
  })
}

/** The same step with Countersign and by hand. */
export function verifySides(bench, options) {
  const side = { before: [LOGIN, CHALLENGE], step: VERIFY, answer: '"verified"' }
  return [
    async (name = 'countersign') =>
      signInStep({ name, app: await bench.start('countersign', options), ...side }),
    async () => signInStep({ name: BY_HAND, app: await bench.start('by-hand', options), ...side }),
  ]
}
