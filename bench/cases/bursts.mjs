import {
  browsersOf,
  CHALLENGE,
  keepCookies,
  LOGIN,
  newUserIds,
  requestFrom,
  VERIFY,
} from '../kit/browsers.mjs'
import { figure } from '../kit/comparison.mjs'
import { openConnection } from '../kit/http-client.mjs'
import { expectOk } from '../kit/load.mjs'
import { percentile } from '../kit/statistics.mjs'

export const title = 'Bursts against a new process'
export const meaning = `Each client signs users in, one after the other, over a connection of its own: a login, a challenge and a verification. They
all begin at once, as the first requests of a process that has just started.`

const SIGN_INS_PER_CLIENT = 8

export async function run(bench) {
  const rows = []
  for (const clients of [50, 200]) {
    const ours = await burst(bench, 'countersign', clients)
    const byHand = await burst(bench, 'by-hand', clients)
    rows.push(
      figure(`${clients} clients, a new process: refused with 503`, ours.refused, '', {
        most: 0,
        note: `of ${ours.sent} challenges and verifications`,
      }),
      figure(`${clients} clients, a new process: p99 of a verification`, Math.round(ours.p99Ms), 'ms', {
        note: `by hand ${Math.round(byHand.p99Ms)} ms`,
      }),
    )
  }
  return rows
}

/** Each client's sign-ins in a process of its own. A response other than 200 and 503 ends the run. */
async function burst(bench, name, clients) {
  const app = await bench.start(name)
  const latencies = []
  let sent = 0
  let refused = 0
  const connections = await Promise.all(Array.from({ length: clients }, () => openConnection(app.port)))

  const signIn = async (connection) => {
    const [browser] = browsersOf(app, newUserIds(1))
    for (const step of [LOGIN, CHALLENGE, VERIFY]) {
      const began = performance.now()
      const response = await connection.send(requestFrom(browser, step(browser)))
      if (step === VERIFY) latencies.push(performance.now() - began)
      if (step !== LOGIN) sent++
      // A user whose challenge was refused has no code to verify.
      if (response.status === 503) return refused++
      expectOk(response)
      keepCookies(browser.cookies, response)
    }
  }

  await Promise.all(
    connections.map(async (connection) => {
      for (let nth = 0; nth < SIGN_INS_PER_CLIENT; nth++) await signIn(connection)
    }),
  )
  for (const connection of connections) connection.close()
  await app.stop()
  return { sent, refused, p99Ms: percentile(Float64Array.from(latencies).sort(), 0.99) }
}
