import { browsersAfter, CHALLENGE, HTML, LOGIN, requestFrom, sendFromAll } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { expectOk } from '../kit/load.mjs'

export const title = 'GET /mfa and the code page, beside a fixed string of the same size'
export const meaning = `The pages are rendered for each request. Beside them is a string of the same size, handed to \`res.send\` behind express-session
and \`passport.session()\`.`

export async function run(bench) {
  const ours = await bench.start('countersign')
  const theirs = await bench.start('passport-only')
  const [signedIn] = await browsersAfter(theirs, 1, [LOGIN])
  const rows = []
  for (const [what, path, steps] of [
    ['`GET /mfa`, the page to choose a factor', '/mfa', [LOGIN]],
    ['`GET /mfa/verify`, the code page', '/mfa/verify', [LOGIN, CHALLENGE]],
  ]) {
    const [browser] = await browsersAfter(ours, 1, steps)
    const [{ body }] = await sendFromAll(ours, [browser], () => ({ path, accept: HTML }))
    const against = 'a fixed string of that size behind `passport.session()`'
    const bytes = Buffer.byteLength(body)
    rows.push(
      ...(await compare(bench, {
        what,
        note: `${bytes} bytes`,
        sides: [
          pageSide('countersign', ours, browser, path, bytes),
          pageSide(against, theirs, signedIn, `/fixed/${bytes}`, bytes),
        ],
        targets: { [against]: bench.target(0.8, 0.7) },
      })),
    )
  }
  return rows
}

function pageSide(name, app, browser, path, bytes) {
  const requests = Array(250).fill(requestFrom(browser, { path, accept: HTML }))
  return {
    name,
    app,
    requests: () => requests,
    check(response) {
      expectOk(response)
      // The times that a page counts down are of different lengths.
      const difference = Math.abs(Buffer.byteLength(response.body) - bytes)
      if (difference > 40 || !response.body.startsWith('<!doctype html>')) {
        throw new Error(`Expected a page of ${bytes} bytes, got ${response.body.slice(0, 300)}`)
      }
    },
  }
}
