import { browsersAfter, CHALLENGE, LOGIN, VERIFY } from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'

export const title = 'Size of a session'
export const meaning = `What Countersign keeps in \`req.session.mfa\`, as JSON. express-session parses, serializes and hashes the whole session at each
request.`

export async function run(bench) {
  const app = await bench.start('countersign')
  const rows = []
  for (const [status, steps] of [
    ['pending with challenge', [LOGIN, CHALLENGE]],
    ['verified', [LOGIN, CHALLENGE, VERIFY]],
  ]) {
    const [browser] = await browsersAfter(app, 1, steps)
    const id = decodeURIComponent(browser.cookies.get('connect.sid')).slice(2).split('.')[0]
    const session = (await app.ask('sessions'))[id]
    const whole = Buffer.byteLength(session)
    const { mfa } = JSON.parse(session)
    const ours = Buffer.byteLength(JSON.stringify(mfa))
    rows.push(
      figure(`session JSON, ${status}: Countersign's part`, ours, 'bytes', {
        note: `the whole session has ${whole} bytes`,
      }),
    )
  }
  return rows
}
