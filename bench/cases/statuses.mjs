import {
  browsersAfter,
  browsersOf,
  HTML,
  LOGIN,
  newUserIds,
  RIGHT_CODE,
  sendFromAll,
} from '../kit/browsers.mjs'
import { compare, figure } from '../kit/comparison.mjs'
import { expectText, load } from '../kit/load.mjs'
import { pageSide, pageWarmUpRounds, SESSIONS } from './page.mjs'

export const title = 'A page behind mfaSession in every other MFA status'
export const meaning = `Outside \`requireMfa\`, 200 users in turn; a service over HTTP keeps their factors and is asked at the sign-in. Exempt users have no
factor. A pending login gets the page as a visitor.`

const VERIFY_AND_TRUST = () => ({
  method: 'POST',
  path: '/mfa/verify',
  // A browser is trusted after the strongest factor of the account only.
  body: { code: RIGHT_CODE, factor: 'app', trust: true },
})
const LOGOUT = () => ({ method: 'POST', path: '/logout', body: {} })

const SIGNED_IN = 'passport.session(), signed in'
const NOBODY = 'passport.session(), nobody signed in'

/** How many pages of a status are loaded while the calls of the service are counted. */
const COUNTED_PAGES = 10_000

export async function run(bench) {
  const env = { KEEPS_FACTORS: '1' }
  const ours = await bench.start('countersign', { env })
  const again = await bench.start('countersign', { env })
  const theirs = await bench.start('passport-only')
  const signedIn = (app) => browsersAfter(app, SESSIONS, [LOGIN])
  const target = bench.major < 24 ? 0.85 : 0.8
  const rows = []
  let calls = 0
  for (const [status, browsersIn, against, besideIn] of [
    ['pending', pending, SIGNED_IN, signedIn],
    ['trusted', trusted, SIGNED_IN, signedIn],
    ['in grace', inGrace, SIGNED_IN, signedIn],
    ['exempt', exempt, SIGNED_IN, signedIn],
    ['skipped by the policy', skipped, SIGNED_IN, signedIn],
    ['nobody signed in', nobody, NOBODY, nobody],
  ]) {
    const isVisitor = browsersIn === pending || browsersIn === nobody
    const side = (name, app, browsers, visits) => async () => greeting(name, app, await browsers(app), visits)
    calls += await callsOf(bench, await greeting(status, ours, await browsersIn(ours), isVisitor))
    rows.push(
      ...(await compare(bench, {
        what: `page, ${status}`,
        parts: [against],
        targets: { [against]: target },
        warmUpRounds: pageWarmUpRounds(bench),
        sides: [
          async (name) => side(name ?? 'countersign', name ? again : ours, browsersIn, isVisitor)(),
          side(against, theirs, besideIn, besideIn === nobody),
        ],
      })),
    )
  }
  const row = figure(
    `calls of the service for ${COUNTED_PAGES.toLocaleString('en')} pages of any status`,
    calls,
    '',
    { most: 0 },
  )
  // What these sessions may do was settled at their sign-in.
  if (!row.reached) throw new Error(`${row.what}: ${row.value}`)
  return [...rows, row]
}

/** How often the service is called for pages of a status. */
async function callsOf(bench, { app, requests, check }) {
  const stub = await bench.stub()
  const calls = async () => {
    const { factors, send, verify } = await stub.ask('counted')
    return factors + send + verify
  }
  const before = await calls()
  for (let pages = 0; pages < COUNTED_PAGES; pages += requests().length) {
    await load({ port: app.port, requests: requests(), check })
  }
  return (await calls()) - before
}

function greeting(name, app, browsers, isVisitor) {
  return pageSide({
    name,
    app,
    browsers,
    message: { path: '/greeting', accept: HTML },
    isExpected: (body, { userId }) => body === `Hello ${isVisitor ? 'visitor' : userId}`,
  })
}

async function pending(app) {
  const browsers = browsersOf(app, newUserIds(SESSIONS))
  await sendFromAll(app, browsers, LOGIN, expectText('"pending"'))
  return browsers
}

/** Signed in with a second factor once, and trusted at the next login. */
async function trusted(app) {
  const browsers = browsersOf(app, newUserIds(SESSIONS))
  for (const step of [LOGIN, VERIFY_AND_TRUST, LOGOUT]) await sendFromAll(app, browsers, step)
  await sendFromAll(app, browsers, LOGIN, expectText('"none"'))
  return browsers
}

/** The app's policy gives users whose id begins with `g` a grace period. */
const inGrace = (app) => withoutFactor(app, 'g')

/** Users whose id begins with `n` have no factor, and need none. */
const exempt = (app) => withoutFactor(app, 'n')

/** The app's policy skips users whose id begins with `e`. */
const skipped = (app) => withoutFactor(app, 'e')

async function withoutFactor(app, prefix) {
  const browsers = browsersOf(app, newUserIds(SESSIONS, prefix))
  await sendFromAll(app, browsers, LOGIN, expectText('"none"'))
  return browsers
}

async function nobody(app) {
  return browsersOf(app, newUserIds(SESSIONS))
}
