import {
  browsersAfter,
  browsersOf,
  HTML,
  LOGIN,
  newUserIds,
  RIGHT_CODE,
  sendFromAll,
} from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { expectText } from '../kit/load.mjs'
import { pageSide, SESSIONS } from './page.mjs'

export const title = 'A page behind mfaSession in every other MFA status'
export const meaning = `The page is outside \`requireMfa\`, and answers with the user's name, or none, to 200 users in turn. A pending login gets it as a visitor, since the
app lists its path among those that pending logins may use. A trusted session asks the store of trusted devices at each
request.`

const VERIFY_AND_TRUST = () => ({
  method: 'POST',
  path: '/mfa/verify',
  // A browser is trusted after the strongest factor of the account only.
  body: { code: RIGHT_CODE, factor: 'app', trust: true },
})
const LOGOUT = () => ({ method: 'POST', path: '/logout', body: {} })

const SIGNED_IN = 'passport.session(), signed in'
const NOBODY = 'passport.session(), nobody signed in'

export async function run(bench) {
  const ours = await bench.start('countersign')
  const again = await bench.start('countersign')
  const theirs = await bench.start('passport-only')
  const signedIn = (app) => browsersAfter(app, SESSIONS, [LOGIN])
  const rows = []
  for (const [status, browsersIn, against, besideIn] of [
    ['pending', pending, SIGNED_IN, signedIn],
    ['trusted', trusted, SIGNED_IN, signedIn],
    ['exempt', exempt, SIGNED_IN, signedIn],
    ['nobody signed in', nobody, NOBODY, nobody],
  ]) {
    const isVisitor = browsersIn === pending || browsersIn === nobody
    rows.push(
      ...(await compare(bench, {
        what: `page, ${status}`,
        parts: [against],
        sides: [
          async (name) => greeting(name ?? 'countersign', name ? again : ours, browsersIn, isVisitor),
          async () => greeting(against, theirs, besideIn, besideIn === nobody),
        ],
      })),
    )
  }
  return rows
}

async function greeting(name, app, browsersIn, isVisitor) {
  return pageSide({
    name,
    app,
    browsers: await browsersIn(app),
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

/** The app's policy skips users whose id begins with `e`. */
async function exempt(app) {
  const browsers = browsersOf(app, newUserIds(SESSIONS, 'e'))
  await sendFromAll(app, browsers, LOGIN, expectText('"none"'))
  return browsers
}

async function nobody(app) {
  return browsersOf(app, newUserIds(SESSIONS))
}
