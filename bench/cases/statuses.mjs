import {
  browsersAfter,
  browsersOf,
  HTML,
  LOGIN,
  newUserIds,
  RIGHT_CODE,
  requestFrom,
  sendFromAll,
} from '../kit/browsers.mjs'
import { comparison } from '../kit/comparison.mjs'
import { expectText } from '../kit/load.mjs'
import { sideBySide } from '../kit/side-by-side.mjs'

export const title = 'A page behind mfaSession in every other MFA status'
export const meaning = `The page is outside \`requireMfa\`, and answers with the user's name, or none. A pending login gets it as a visitor, since the
app lists its path among those that pending logins may use. A trusted session asks the store of trusted devices at each
request.`

const VERIFY_AND_TRUST = () => ({
  method: 'POST',
  path: '/mfa/verify',
  // A browser is trusted after the strongest factor of the account only.
  body: { code: RIGHT_CODE, factor: 'app', trust: true },
})
const LOGOUT = () => ({ method: 'POST', path: '/logout', body: {} })

export async function run(bench) {
  const ours = await bench.start('countersign')
  const theirs = await bench.start('passport-only')
  const signedIn = (await browsersAfter(theirs, 1, [LOGIN]))[0]
  const pages = [
    ['pending', await pending(ours), 'Hello visitor'],
    ['trusted', await trusted(ours)],
    ['exempt', await exempt(ours)],
    ['nobody signed in', browsersOf(ours, ['nobody'])[0], 'Hello visitor'],
  ]
  const beside = [
    ['passport.session(), signed in', signedIn],
    ['passport.session(), nobody signed in', browsersOf(theirs, ['nobody'])[0], 'Hello visitor'],
  ]
  const measured = await sideBySide(
    [...pages.map((page) => side(ours, page)), ...beside.map((page) => side(theirs, page))],
    { rounds: bench.rounds, warmUpRounds: bench.warmUpRounds },
  )
  return pages.map(([name]) => {
    const against = beside[name === 'nobody signed in' ? 1 : 0][0]
    return comparison(`page, ${name}`, against, measured[name], measured[against], bench.target(0.93, 0.88))
  })
}

function side(app, [name, browser, text = `Hello ${browser.userId}`]) {
  const requests = Array(400).fill(requestFrom(browser, { path: '/greeting', accept: HTML }))
  return { name, app, requests: () => requests, check: expectText(text) }
}

async function pending(app) {
  const browsers = browsersOf(app, newUserIds(1))
  await sendFromAll(app, browsers, LOGIN, expectText('"pending"'))
  return browsers[0]
}

/** Signed in with a second factor once, and trusted at the next login. */
async function trusted(app) {
  const browsers = browsersOf(app, newUserIds(1))
  for (const step of [LOGIN, VERIFY_AND_TRUST, LOGOUT]) await sendFromAll(app, browsers, step)
  await sendFromAll(app, browsers, LOGIN, expectText('"none"'))
  return browsers[0]
}

/** The app's policy skips users whose id begins with `e`. */
async function exempt(app) {
  const browsers = browsersOf(app, newUserIds(1, 'e'))
  await sendFromAll(app, browsers, LOGIN, expectText('"none"'))
  return browsers[0]
}
