import { compare } from '../kit/comparison.mjs'
import { challengeSides } from './challenge.mjs'
import { BY_HAND, verifySides } from './verify.mjs'

export const title = 'POST /mfa/verify and POST /mfa/challenge with Redis for sessions and counters'
export const meaning = `The same two steps with connect-redis for sessions and Redis for counters, on this machine. What Redis itself uses is not
counted.`

export async function run(bench) {
  const parts = [BY_HAND]
  return [
    ...(await compare(bench, {
      what: '`POST /mfa/verify`, sessions and counters in Redis',
      sides: verifySides(bench, { redis: true }),
      parts,
    })),
    ...(await compare(bench, {
      what: '`POST /mfa/challenge`, sessions and counters in Redis',
      sides: challengeSides(bench, { redis: true }),
      parts,
    })),
  ]
}
