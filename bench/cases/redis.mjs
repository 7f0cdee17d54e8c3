import { compare } from '../kit/comparison.mjs'
import { challengeSides } from './challenge.mjs'
import { verifySides } from './verify.mjs'

export const title = 'POST /mfa/verify and POST /mfa/challenge with Redis for sessions and counters'
export const meaning = `The same two steps with connect-redis for sessions and Redis for counters, on this machine. What Redis itself uses is not
counted.`

export async function run(bench) {
  const targets = { 'by hand with Passport': 0.85 }
  return [
    ...(await compare(bench, {
      what: '`POST /mfa/verify`, sessions and counters in Redis',
      sides: await verifySides(bench, { redis: true }),
      targets,
    })),
    ...(await compare(bench, {
      what: '`POST /mfa/challenge`, sessions and counters in Redis',
      sides: await challengeSides(bench, { redis: true }),
      targets,
    })),
  ]
}
