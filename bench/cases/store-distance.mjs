import {
  browsersAfter,
  browsersOf,
  CHALLENGE,
  HTML,
  LOGIN,
  newUserIds,
  sendFromAll,
  VERIFY,
} from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { delayingProxy } from '../kit/delaying-proxy.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { median } from '../kit/statistics.mjs'

export const title = 'A sign-in whose store is 50 ms away'
export const meaning = `Sessions, counters and trusted devices are in one store, whose answers a proxy holds up for 50 ms. What a request takes longer
than without this delay, divided by 50 ms, is the number of round trips that it waits for, one after the other. Figures are medians.`

const DELAY_MS = 50

const STEPS = [
  ['login', LOGIN],
  ['factor page', () => ({ path: '/mfa?choose', accept: HTML })],
  ['`POST /mfa/challenge`', CHALLENGE],
  ['code page', () => ({ path: '/mfa/verify', accept: HTML })],
  ['a wrong code', () => ({ method: 'POST', path: '/mfa/verify', body: { code: '000000' } })],
  ['`POST /mfa/verify`', VERIFY],
]

/** In milliseconds, with three round trips for a page, and four or five for the others, and what the machine adds. */
const MOST_MS = {
  'factor page': 200,
  'code page': 200,
  '`POST /mfa/challenge`': 290,
  '`POST /mfa/verify`': 310,
  'a wrong code': 310,
}

export async function run(bench) {
  const redis = await bench.redis()
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const stores = [
    ['Redis', redis.port, (port) => ({ REDIS_URL: `redis://127.0.0.1:${port}` })],
    [
      'PostgreSQL',
      postgres.port,
      (port) => ({ DATABASE_URL: `postgresql://postgres@127.0.0.1:${port}/postgres` }),
    ],
  ]
  const rows = []
  for (const [store, port, env] of stores) {
    const proxy = await delayingProxy(port)
    bench.defer(proxy.stop)
    const app = await bench.start('countersign', { env: env(proxy.port) })
    // Tables are made, scripts loaded and connections opened by the first sign-ins.
    await browsersAfter(app, 20, [LOGIN, CHALLENGE, VERIFY])
    proxy.setDelay(DELAY_MS)
    const took = new Map(STEPS.map(([what]) => [what, []]))
    for (let round = 0; round < bench.rounds; round++) {
      const browsers = browsersOf(app, newUserIds(1))
      for (const [what, step] of STEPS) {
        const began = performance.now()
        await sendFromAll(app, browsers, step, () => {})
        took.get(what).push(performance.now() - began)
      }
    }
    for (const [what, ms] of took) {
      rows.push(
        figure(`${what}, ${store} ${DELAY_MS} ms away`, Math.round(median(ms)), 'ms', {
          most: MOST_MS[what],
        }),
      )
    }
  }
  return rows
}
