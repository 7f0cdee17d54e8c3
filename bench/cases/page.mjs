import { browsersAfter, CHALLENGE, HTML, LOGIN, requestFrom, VERIFY } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'

export const title = 'A page behind mfaSession and requireMfa, verified session'
export const meaning = `The page answers with one line, to 200 users in turn, whose factors a service over HTTP keeps. Behind Countersign the session is
verified, with limits, trusted devices, notices and diagnostics on; beside it the app has no second factor.`

const PASSPORT = 'passport.session() only'

export async function run(bench) {
  return compare(bench, {
    what: 'page behind `mfaSession` and `requireMfa`, verified session',
    sides: pageSides(bench),
    targets: { [PASSPORT]: 0.85 },
    parts: [PASSPORT],
    warmUpRounds: pageWarmUpRounds(bench),
  })
}

/** The same page, guarded by Countersign and with a Passport login only. */
export function pageSides(bench) {
  return [
    (name = 'countersign') => pageOf(bench, name, 'countersign', [LOGIN, CHALLENGE, VERIFY]),
    () => pageOf(bench, PASSPORT, 'passport-only', [LOGIN]),
  ]
}

async function pageOf(bench, name, program, steps) {
  const app = await bench.start(program, { env: { KEEPS_FACTORS: '1' } })
  const message = { path: '/account', accept: HTML }
  return pageSide({
    name,
    app,
    browsers: await browsersAfter(app, SESSIONS, steps),
    message,
    isExpected: (body, { userId }) => body === `Account of ${userId}`,
  })
}

/** So many users load a page in turn, so that no cache of a single session is measured. */
export const SESSIONS = 200

/** More rounds than in other cases: until then, code is compiled, of which Countersign has more. */
export const pageWarmUpRounds = (bench) => 4 * bench.warmUpRounds

/**
 * A side that measures a page, each browser twice in a round. `isExpected` is handed the body and the browser. The page calls no
 * service, so nothing works beside app and browsers, and these can stay awake.
 */
export function pageSide({ name, app, browsers, message, isExpected }) {
  const twice = [...browsers, ...browsers]
  const requests = twice.map((browser) => requestFrom(browser, message))
  return {
    name,
    app,
    requests: () => requests,
    staysAwake: true,
    check({ status, body }, i) {
      if (status !== 200 || !isExpected(body, twice[i])) {
        throw new Error(`Expected the page, got ${status}: ${body.slice(0, 300)}`)
      }
    },
  }
}
