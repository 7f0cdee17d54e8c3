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
import { watchCommands } from '../kit/redis-commands.mjs'

export const title = 'Redis commands and round trips of one request'
export const meaning = `Commands are those that Redis reports while one request is answered, without those that a script runs inside. Round trips in
a row are told from the time that a request takes when each answer of Redis is held up for 50 ms. \`expire\` is the session
store's own, once a request.`

/** How long each answer of Redis is held up; the rest of a request takes much less. */
const DELAY_MS = 50

const SAMPLES = 3

const STEPS = [
  ['login', LOGIN],
  ['`POST /mfa/challenge`', CHALLENGE],
  ['`POST /mfa/verify`', VERIFY],
  ['verified page', () => ({ path: '/account', accept: HTML })],
]

const APPS = [
  ['Countersign', 'countersign', {}],
  ['Countersign with "this wasn\'t me" links', 'countersign', { NOTICE_LINKS: '1' }],
  ['by hand', 'by-hand', {}],
]

const MOST_COMMANDS = { '`POST /mfa/verify`': 6 }
const MOST_TRIPS = { '`POST /mfa/challenge`': 4, '`POST /mfa/verify`': 4 }

export async function run(bench) {
  const rows = []
  for (const [label, name, env] of APPS) {
    const isOurs = name === 'countersign'
    for (const step of await observe(bench, name, env)) {
      const what = `${step.what}, ${label}`
      rows.push(
        figure(`Redis commands: ${what}`, step.commands.length, '', {
          ...(isOurs && { most: MOST_COMMANDS[step.what] }),
          note: step.commands.join(' '),
        }),
        figure(`Redis round trips in a row: ${what}`, step.trips, '', {
          ...(isOurs && { most: MOST_TRIPS[step.what] }),
        }),
      )
    }
  }
  return rows
}

async function observe(bench, name, env) {
  const redis = await bench.redis()
  const proxy = await delayingProxy(redis.port)
  bench.defer(proxy.stop)
  const app = await bench.start(name, { env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, ...env } })
  // Scripts are loaded and code is compiled by the first sign-ins.
  await browsersAfter(
    app,
    20,
    STEPS.map(([, step]) => step),
  )
  const commands = await watchCommands(redis.port)
  bench.defer(commands.stop)
  const observed = STEPS.map(([what]) => ({ what, commands: [], plainMs: [], delayedMs: [] }))
  for (let sample = 0; sample < SAMPLES; sample++) {
    const plain = browsersOf(app, newUserIds(1))
    const delayed = browsersOf(app, newUserIds(1))
    for (const [i, [, step]] of STEPS.entries()) {
      await settled()
      commands.take()
      observed[i].plainMs.push(await time(() => sendFromAll(app, plain, step)))
      await settled()
      observed[i].commands = commands.take()
      proxy.setDelay(DELAY_MS)
      observed[i].delayedMs.push(await time(() => sendFromAll(app, delayed, step)))
      await settled()
      proxy.setDelay(0)
    }
  }
  // Whatever else the machine does makes a request slower, never faster.
  return observed.map(({ what, commands: sent, plainMs, delayedMs }) => ({
    what,
    commands: sent,
    trips: Math.round((Math.min(...delayedMs) - Math.min(...plainMs)) / DELAY_MS),
  }))
}

async function time(work) {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Gives commands that a request does not wait for the time to arrive. */
function settled() {
  return new Promise((resolve) => setTimeout(resolve, 3 * DELAY_MS))
}
