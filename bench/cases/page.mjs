import { browsersAfter, CHALLENGE, HTML, LOGIN, requestFrom, VERIFY } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'

export const title = 'A page behind mfaSession and requireMfa, verified session'
export const meaning = `The page answers with one line. Behind Countersign the session is verified, with limits, trusted devices, notices and
diagnostics on; beside it the app has the same Passport login and session, and no second factor.`

export async function run(bench) {
  const sides = await pageSides(bench)
  return compare(bench, {
    what: 'page behind `mfaSession` and `requireMfa`, verified session',
    sides,
    targets: { 'passport.session() only': bench.target(0.97, 0.93) },
  })
}

/** The same page, guarded by Countersign and with a Passport login only. */
export async function pageSides(bench) {
  return [
    await pageOf('countersign', await bench.start('countersign'), [LOGIN, CHALLENGE, VERIFY]),
    await pageOf('passport.session() only', await bench.start('passport-only'), [LOGIN]),
  ]
}

async function pageOf(name, app, steps) {
  const [browser] = await browsersAfter(app, 1, steps)
  const requests = Array(500).fill(requestFrom(browser, { path: '/account', accept: HTML }))
  const expected = `Account of ${browser.userId}`
  return {
    name,
    app,
    requests: () => requests,
    check({ status, body }) {
      if (status !== 200 || body !== expected) throw new Error(`Expected the page, got ${status}: ${body}`)
    },
  }
}
