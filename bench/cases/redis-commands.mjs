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
import { watchCommands } from '../kit/redis-commands.mjs'
import { tripCountingProxy } from '../kit/trip-counting-proxy.mjs'

export const title = 'Redis commands and round trips of one request'
export const meaning = `Commands are those that Redis reports while one request is answered, without those that a script runs inside. Commands that are
sent before the answer to the one before them share a round trip. \`expire\` is the session store's own.`

/** In milliseconds. Commands that a request does not wait for arrive in this time. */
const SETTLING_MS = 150

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
  const proxy = await tripCountingProxy(redis.port)
  bench.defer(proxy.stop)
  const app = await bench.start(name, { env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, ...env } })
  // Scripts are loaded by the first sign-ins.
  await browsersAfter(
    app,
    20,
    STEPS.map(([, step]) => step),
  )
  const commands = await watchCommands(redis.port)
  bench.defer(commands.stop)
  const browsers = browsersOf(app, newUserIds(1))
  const observed = []
  for (const [what, step] of STEPS) {
    await settled()
    commands.take()
    proxy.take()
    await sendFromAll(app, browsers, step)
    await settled()
    observed.push({ what, commands: commands.take(), trips: proxy.take() })
  }
  return observed
}

function settled() {
  return new Promise((resolve) => setTimeout(resolve, SETTLING_MS))
}
