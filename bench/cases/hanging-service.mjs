import { browsersAfter, CHALLENGE, LOGIN, VERIFY } from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { openLoop } from '../kit/open-loop.mjs'
import { probePage } from '../kit/prober.mjs'

export const title = 'A service that does not answer any more'
export const meaning = `The service accepts connections and answers nothing, while 200 verifications a second arrive for 5 s.`

const MOST_CONNECTIONS = 64

export async function run(bench) {
  const app = await bench.start('countersign')
  const stub = await bench.stub()
  const [visitor] = await browsersAfter(app, 1, [LOGIN, CHALLENGE, VERIFY])
  const waiting = await browsersAfter(app, 1_000, [LOGIN, CHALLENGE])
  const prober = await probePage(visitor, '/account', 10)
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const before = prober.take()
  await stub.ask('hang', true)
  const result = await openLoop({ browsers: waiting, message: VERIFY, perSecond: 200, seconds: 5 })
  const during = prober.take()
  await prober.stop()
  await stub.ask('hang', false)
  const { mostConnections } = await stub.ask('counted')
  const { 503: refused, ...others } = result.statuses
  const rest = Object.values(others).reduce((sum, { count }) => sum + count, 0) + result.failed
  return [
    figure('service hangs: most connections to it at once', mostConnections, '', { most: MOST_CONNECTIONS }),
    figure('service hangs: verifications refused with 503', refused?.count ?? 0, '', {
      least: result.arrived - result.notSent,
      note: `p50 ${Math.round(refused?.p50Ms ?? 0)} ms, p99 ${Math.round(refused?.p99Ms ?? 0)} ms; the timeout is 5 s`,
    }),
    figure('service hangs: other answers and failed connections', rest, '', { most: 0 }),
    figure('service hangs: p99 of a guarded page meanwhile', Number(during.p99Ms.toFixed(1)), 'ms', {
      note: `${before.p99Ms.toFixed(1)} ms before`,
    }),
  ]
}
