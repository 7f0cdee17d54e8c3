import { browsersOf, CHALLENGE, HTML, LOGIN, newUserIds, sendFromAll, VERIFY } from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { median } from '../kit/statistics.mjs'

export const title = 'Sign-ins one after the other, with samples of memory'
export const meaning = `Each sign-in is that of another user, who gives a code, loads a page and signs out. Sessions and counters are in Redis; the heap
is measured after a garbage collection, twenty times.`

const SAMPLES = 20
const AT_ONCE = 200
const STEPS = [
  LOGIN,
  CHALLENGE,
  VERIFY,
  () => ({ path: '/account', accept: HTML }),
  () => ({ method: 'POST', path: '/logout', body: {} }),
]

/** Each sign-in is that of another user, who loads a page and signs out; sessions and counters are in Redis. */
export async function run(bench) {
  const signIns = bench.signIns ?? (bench.isQuick ? 4_000 : 20_000)
  const app = await bench.start('countersign', { redis: true, nodeArguments: ['--expose-gc'] })
  const samples = []
  let done = 0
  const began = performance.now()
  while (done < signIns) {
    const browsers = browsersOf(app, newUserIds(Math.min(AT_ONCE, signIns - done)))
    for (const step of STEPS) await sendFromAll(app, browsers, step)
    done += browsers.length
    if (done * SAMPLES < signIns * (samples.length + 1)) continue
    const { heapUsed, rss } = await app.ask('usage')
    samples.push({ done, heapMegabytes: heapUsed / 2 ** 20, rssMegabytes: rss / 2 ** 20 })
    console.error(
      `  ${done} sign-ins: heap ${(heapUsed / 2 ** 20).toFixed(1)} MB, resident ${(rss / 2 ** 20).toFixed(0)} MB`,
    )
  }
  const perSecond = done / ((performance.now() - began) / 1000)
  // The first half warms up.
  const half = Math.floor(samples.length / 2)
  const heaps = samples.map(({ heapMegabytes }) => heapMegabytes)
  const early = median(heaps.slice(half, Math.floor(half * 1.5)))
  const late = median(heaps.slice(Math.floor(half * 1.5)))
  return [
    figure(
      `${done} sign-ins: heap in use, last quarter beside the quarter before`,
      Number((late / early).toFixed(3)),
      '×',
      {
        most: 1.05,
        note: `${heaps.map((heap) => heap.toFixed(1)).join(' ')} MB`,
      },
    ),
    figure(`${done} sign-ins: resident memory at the end`, Math.round(samples.at(-1).rssMegabytes), 'MB'),
    figure(`${done} sign-ins: rate`, Math.round(perSecond), 'sign-ins/s'),
  ]
}
