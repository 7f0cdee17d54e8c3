import {
  browsersAfter,
  CHALLENGE,
  LOGIN,
  requestFrom,
  sendFromAll,
  VERIFY,
  VERIFY_APP,
} from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { load } from '../kit/load.mjs'
import { openLoop } from '../kit/open-loop.mjs'
import { probePage } from '../kit/prober.mjs'

export const title = 'Ten times the verifications that an app can take'
export const meaning = `Requests arrive at ten times the rate that the app answered before, and do not wait for answers. Each is sent from a session
that is signed in and confirms again by the code of an app. A user who waits for an answer sends nothing else.`

const FACTOR = 10

export async function run(bench) {
  const app = await bench.start('countersign', { env: { ADMISSION: '1' }, nodeArguments: ['--expose-gc'] })
  const seconds = bench.isQuick ? 5 : 15
  // Users who are signed in confirm again, so that one session can be asked any number of times.
  const browsers = await browsersAfter(app, bench.isQuick ? 1_000 : 3_000, [LOGIN, CHALLENGE, VERIFY])
  for (let warmUp = 0; warmUp < 2; warmUp++) await sendFromAll(app, browsers, VERIFY_APP)
  const requests = browsers.map((browser) => requestFrom(browser, VERIFY_APP(browser)))
  const { perSecond, responses, p99Ms } = await load({ port: app.port, requests })
  // New sessions, for the last ones were replaced by those of `responses`.
  const crowd = await browsersAfter(app, responses.length, [LOGIN, CHALLENGE, VERIFY])
  const [visitor] = await browsersAfter(app, 1, [LOGIN, CHALLENGE, VERIFY])
  const memoryBefore = (await app.ask('usage')).heapUsed
  const prober = await probePage(visitor, '/account')
  const result = await openLoop({
    browsers: crowd,
    message: VERIFY_APP,
    perSecond: perSecond * FACTOR,
    seconds,
  })
  const page = prober.take()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const pageAfterwards = prober.take()
  await prober.stop()
  const memoryAfter = (await app.ask('usage')).heapUsed
  const { 200: verified, 503: refused, ...others } = result.statuses
  const what = `${FACTOR} times the rate it can take for ${seconds} s`
  const answered = Object.values(result.statuses).reduce((sum, { count }) => sum + count, 0)
  return [
    figure(`${what}: p99 of those that are verified`, Math.round(verified?.p99Ms ?? 0), 'ms', {
      most: 1_000,
      note: `${verified?.count ?? 0} verified; without overload ${Math.round(perSecond)}/s with a p99 of ${Math.round(p99Ms)} ms`,
    }),
    figure(
      `${what}: refused with 503`,
      Math.round(((refused?.count ?? 0) / answered) * 100),
      '% of the answers',
      {
        note: refused ? `p99 ${Math.round(refused.p99Ms)} ms` : 'none',
      },
    ),
    figure(`${what}: 503 without Retry-After`, result.withoutRetryAfter, '', { most: 0 }),
    figure(`${what}: other answers and failed connections`, sumOf(others) + result.failed, '', {
      most: 0,
      note: Object.keys(others).join(' '),
    }),
    figure(`${what}: not sent, since all ${crowd.length} users waited`, result.notSent, ''),
    figure(`${what}: p99 of a guarded page meanwhile`, Math.round(page.p99Ms), 'ms'),
    figure(`${what}: p99 of a guarded page in the 2 s afterwards`, Math.round(pageAfterwards.p99Ms), 'ms'),
    figure(
      `${what}: heap in use afterwards, beside before`,
      Number((memoryAfter / memoryBefore).toFixed(2)),
      '×',
    ),
  ]
}

function sumOf(statuses) {
  return Object.values(statuses).reduce((sum, { count }) => sum + count, 0)
}
