import { browsersOf, CHALLENGE, HTML, LOGIN, newUserIds, sendFromAll, VERIFY } from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'

export const title = 'Sign-ins one after the other, with samples of memory'
export const meaning = `Each sign-in is that of another user, who gives a code, loads a page and signs out. Sessions and counters are in Redis; the heap
is measured after a garbage collection, twenty times. A million sign-ins take an hour and a half, so this case runs only when it
is named. The growth is the slope of a straight line through the second half of the samples; the first half warms up.`

const SAMPLES = 20
const AT_ONCE = 200
const SIGN_INS = 1_000_000
const QUICK_SIGN_INS = 2_000
const STEPS = [
  LOGIN,
  CHALLENGE,
  VERIFY,
  () => ({ path: '/account', accept: HTML }),
  () => ({ method: 'POST', path: '/logout', body: {} }),
]

/** Each sign-in is that of another user, who loads a page and signs out; sessions and counters are in Redis. */
export async function run(bench) {
  const { isQuick, signIns = isQuick ? QUICK_SIGN_INS : SIGN_INS } = bench
  const app = await bench.start('countersign', { redis: true, nodeArguments: ['--expose-gc'] })
  const samples = []
  let done = 0
  const began = performance.now()
  while (done < signIns) {
    const browsers = browsersOf(app, newUserIds(Math.min(AT_ONCE, signIns - done)))
    for (const step of STEPS) await sendFromAll(app, browsers, step)
    done += browsers.length
    if ((done / signIns) * SAMPLES < samples.length + 1) continue
    const { heapUsed, rss } = await app.ask('usage')
    samples.push({ done, heapMegabytes: heapUsed / 2 ** 20, rssMegabytes: rss / 2 ** 20 })
    console.error(
      `  ${done} sign-ins: heap ${(heapUsed / 2 ** 20).toFixed(1)} MB, resident ${(rss / 2 ** 20).toFixed(0)} MB`,
    )
  }
  const perSecond = done / ((performance.now() - began) / 1000)
  const later = samples.slice(Math.floor(samples.length / 2))
  const growth = slope(later.map(({ done: x, heapMegabytes: y }) => [x, y])) * 100_000
  const heaps = samples.map(({ heapMegabytes }) => heapMegabytes)
  return [
    figure('heap in use, growth per 100,000 sign-ins', Number(growth.toFixed(2)), 'MB', {
      most: 1,
      note: `${done} sign-ins: ${heaps.map((heap) => heap.toFixed(1)).join(' ')} MB`,
    }),
    figure('resident memory at the end', Math.round(samples.at(-1).rssMegabytes), 'MB'),
    figure('rate', Math.round(perSecond), 'sign-ins/s'),
  ]
}

/** The slope of the straight line through these points with the least squares. */
function slope(points) {
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const middleX = mean(points.map(([x]) => x))
  const middleY = mean(points.map(([, y]) => y))
  const covariance = mean(points.map(([x, y]) => (x - middleX) * (y - middleY)))
  return covariance / mean(points.map(([x]) => (x - middleX) ** 2))
}
