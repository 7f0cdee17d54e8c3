import { browsersAfter, CHALLENGE, HTML, LOGIN, sendFromAll } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { pageSide, SESSIONS } from './page.mjs'

export const title = 'GET /mfa and the code page, beside a fixed string of the same size'
export const meaning = `The pages are rendered for each request, of 200 users in turn. Beside them is a string of the same size with the same
headers, handed to \`res.send\` behind express-session and \`passport.session()\`.`

const FIXED = 'a fixed string of that size behind `passport.session()`'

export async function run(bench) {
  const ours = await bench.start('countersign')
  const again = await bench.start('countersign')
  const theirs = await bench.start('passport-only')
  const signedIn = await browsersAfter(theirs, SESSIONS, [LOGIN])
  const rows = []
  for (const { what, path, steps, target } of [
    { what: '`GET /mfa`, the page to choose a factor', path: '/mfa', steps: [LOGIN] },
    { what: '`GET /mfa/verify`, the code page', path: '/mfa/verify', steps: [LOGIN, CHALLENGE], target: 0.5 },
  ]) {
    const [one] = await browsersAfter(ours, 1, steps)
    const [{ head, body }] = await sendFromAll(ours, [one], () => ({ path, accept: HTML }))
    const bytes = Buffer.byteLength(body)
    await theirs.ask('fixed', { bytes, headers: headersOfPage(head) })
    const side = (name, app, browsers, ofPath) =>
      pageSide({
        name,
        app,
        browsers,
        message: { path: ofPath, accept: HTML },
        isExpected: (text) => isPageOf(text, bytes),
      })
    rows.push(
      ...(await compare(bench, {
        what,
        note: `${bytes} bytes`,
        targets: { [FIXED]: target },
        parts: [FIXED],
        sides: [
          async (name) => {
            const app = name ? again : ours
            return side(name ?? 'countersign', app, await browsersAfter(app, SESSIONS, steps), path)
          },
          async () => side(FIXED, theirs, signedIn, '/fixed'),
        ],
      })),
    )
  }
  return rows
}

/** The headers that a page sets, without those of the connection and the framework, which the other side sets itself. */
function headersOfPage(head) {
  const theirOwn = /^(connection|content-length|date|etag|keep-alive|set-cookie|x-powered-by)$/i
  const lines = head.split('\r\n').slice(1)
  return Object.fromEntries(
    lines.map((line) => line.split(/: (.*)/s)).filter(([name]) => !theirOwn.test(name)),
  )
}

/** The code page is shorter by some words once another code may be requested, after half a minute. */
function isPageOf(text, bytes) {
  return text.startsWith('<!doctype html>') && Math.abs(Buffer.byteLength(text) - bytes) <= bytes * 0.1
}
