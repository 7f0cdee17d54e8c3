import { availableParallelism } from 'node:os'
import { browsersAfter, CHALLENGE, LOGIN, requestFrom, VERIFY } from '../kit/browsers.mjs'
import { compare, figure } from '../kit/comparison.mjs'
import { load } from '../kit/load.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'Four processes behind node:cluster with Redis, beside one'
export const meaning = `The attempts of one challenge are counted by all processes together.`

const WORKERS = 4
const ATTEMPTS_PER_CHALLENGE = 5

export async function run(bench) {
  let several
  const side = { before: [LOGIN, CHALLENGE], step: VERIFY, answer: '"verified"' }
  const rows = await compare(bench, {
    what: `\`POST /mfa/verify\`, ${WORKERS} processes behind node:cluster, with Redis`,
    note: `${availableParallelism()} cores, which the load generator, Redis and the stub service share`,
    // Each process gets a part of the requests only, and has to compile its code as well.
    warmUpRounds: 2 * bench.warmUpRounds,
    sides: [
      async (name = `${WORKERS} processes`) => {
        several = await bench.start('cluster', {
          redis: true,
          env: { APP: 'countersign', WORKERS: String(WORKERS) },
        })
        return signInStep({ name, app: several, ...side })
      },
      async () =>
        signInStep({ name: 'one process', app: await bench.start('countersign', { redis: true }), ...side }),
    ],
  })
  return [...rows, await evaluatedCodes(bench, several)]
}

/** A hundred wrong codes at once, for one challenge, over all processes. */
async function evaluatedCodes(bench, app) {
  const stub = await bench.stub()
  const [browser] = await browsersAfter(app, 1, [LOGIN, CHALLENGE])
  const { verify: before } = await stub.ask('counted')
  const guess = requestFrom(browser, { method: 'POST', path: '/mfa/verify', body: { code: '000000' } })
  const { responses } = await load({
    port: app.port,
    requests: Array(100).fill(guess),
    check: ({ status, body }) => {
      if (status !== 401 && status !== 429) throw new Error(`Expected a refusal, got ${status}: ${body}`)
    },
  })
  const { verify: after } = await stub.ask('counted')
  return figure(
    `codes of one challenge that ${WORKERS} processes evaluate, of ${responses.length} sent at once`,
    after - before,
    '',
    { most: ATTEMPTS_PER_CHALLENGE },
  )
}
