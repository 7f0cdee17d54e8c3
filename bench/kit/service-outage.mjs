import { setTimeout as wait } from 'node:timers/promises'
import { browsersAfter, CHALLENGE, HTML, LOGIN, RIGHT_CODE, requestFrom, VERIFY } from './browsers.mjs'
import { freePort } from './free-port.mjs'
import { openConnection } from './http-client.mjs'
import { startApp } from './processes.mjs'

const UP_MS = 30_000
const DOWN_MS = 60_000
const USERS = 50
/** Longer than a breaker that pauses for a second, and a sign-in. */
const BACK_WITHIN_MS = 2_000

const TRUST = () => ({
  method: 'POST',
  path: '/mfa/verify',
  body: { code: RIGHT_CODE, factor: 'app', trust: true },
})
const LOGOUT = () => ({ method: 'POST', path: '/logout', body: {} })
const PAGE = () => ({ path: '/greeting', accept: HTML })

/** The kinds of sessions: the letter of their users, which `apps/countersign.mjs` knows, and the steps of their sign-in. */
const SESSIONS = {
  verified: ['u', [LOGIN, CHALLENGE, VERIFY]],
  exempt: ['n', [LOGIN]],
  trusted: ['u', [LOGIN, TRUST, LOGOUT, LOGIN]],
  'in grace': ['g', [LOGIN]],
}

/** The sign-ins during and after the outage, by the letter of their users. */
const SIGN_INS = { 'sign-in with a factor': 'u', 'sign-in without a factor': 'n' }

/** The rows of the table. */
export const OUTAGE_KINDS = [...Object.keys(SESSIONS), ...Object.keys(SIGN_INS)].map((kind) => `app: ${kind}`)

/** A service on a port of its own, which can be stopped and started again. */
async function stoppable() {
  const port = await freePort()
  const start = () => startApp('stub-service', { env: { PORT: String(port) } })
  let running = await start()
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => running.stop(),
    async startAgain() {
      running = await start()
    },
  }
}

/** Counts what comes back, by its status. */
function tally() {
  const statuses = new Map()
  return {
    add: (status) => statuses.set(status, (statuses.get(status) ?? 0) + 1),
    text: () =>
      [...statuses].map(([status, count]) => `${status} × ${count.toLocaleString('en')}`).join(', '),
  }
}

/**
 * What users notice while the service is stopped for a minute, as rows of a table.
 * @throws {Error} if a user with a factor gets in by the password alone.
 */
export async function serviceOutage() {
  const service = await stoppable()
  const app = await startApp('countersign', {
    env: { SERVICE_URL: service.url, KEEPS_FACTORS: '1', RECHECK: '1m' },
  })
  const connection = await openConnection(app.port)
  const send = (browser, message) => connection.send(requestFrom(browser, message(browser)))
  try {
    const sessions = []
    for (const [kind, [letter, steps]] of Object.entries(SESSIONS)) {
      sessions.push({ kind, browsers: await browsersAfter(app, USERS, steps, letter), pages: tally() })
    }
    const signIns = Object.entries(SIGN_INS).map(([kind, letter]) => ({ kind, letter, pages: tally() }))
    /** Signs a new user in, and returns the status of that and what the app calls them on a page afterwards. */
    const signIn = async (letter) => {
      const [browser] = await browsersAfter(app, 1, [], letter)
      const { status, head } = await send(browser, LOGIN)
      const cookie = /\r\nset-cookie: ([^=\r]+)=([^;\r]*)/i.exec(head)
      if (cookie) browser.cookies.set(cookie[1], cookie[2])
      const { body } = await send(browser, PAGE)
      return { status, isIn: body === `Hello ${browser.userId}` }
    }

    // The decisions of the sessions are made again in the middle of the outage.
    await wait(UP_MS)
    await service.stop()
    const until = performance.now() + DOWN_MS
    for (let round = 0; performance.now() < until; round++) {
      for (const { browsers, pages } of sessions) {
        const browser = browsers[round % USERS]
        const { status, body } = await send(browser, PAGE)
        pages.add(body === `Hello ${browser.userId}` ? status : `not signed in, ${status}`)
      }
      for (const { letter, pages } of signIns) {
        const { status, isIn } = await signIn(letter)
        if (isIn) throw new Error(`A user of ${letter} was signed in without an answer of the service.`)
        pages.add(status)
      }
      await wait(10)
    }
    await service.startAgain()
    const back = performance.now()
    const rows = sessions.map(({ kind, pages }) => [`app: ${kind}`, pages.text(), '–'])
    for (const { kind, letter, pages } of signIns) {
      let answer = await signIn(letter)
      while (answer.status !== 200 && performance.now() < back + DOWN_MS) {
        await wait(10)
        answer = await signIn(letter)
      }
      const ms = performance.now() - back
      rows.push([`app: ${kind}`, pages.text(), `${(ms / 1_000).toFixed(1)} s`])
      if (ms > BACK_WITHIN_MS) console.error(`${kind}: ${ms} ms until the first one was answered`)
    }
    return rows
  } finally {
    connection.close()
    await app.stop()
    await service.stop()
  }
}
