// What users notice when the database moves to another machine: codes are requested and typed at two processes of the service, while a
// machine of a Patroni cluster fails. The result is in bench/patroni.md. Run it with `npm run faults:patroni`; it takes about a quarter of
// an hour and says which Debian packages it needs. With words, such as `synchronous: primary`, it runs only the faults whose name contains
// one of them, and replaces their rows.
// `USERS_PER_SECOND=75` is for a machine that cannot hold twice 150 requests per second.
import { randomInt, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { connectionsTo } from './kit/http-client.mjs'
import { describeMachine } from './kit/machine.mjs'
import { clusterVersions, PATRONI_TIMES, startPatroni } from './kit/patroni.mjs'
import { script } from './kit/postgres.mjs'
import { startApp } from './kit/processes.mjs'
import { serviceRequest, startService } from './kit/service.mjs'
import { percentile } from './kit/statistics.mjs'
import { keptTable } from './report/kept-table.mjs'

/** Each requests a code and types it, so that there are twice as many requests. */
const USERS_PER_SECOND = Number(process.env.USERS_PER_SECOND ?? 150)
const LOAD_S = 50
/** When the fault begins, after the load, and when what failed comes back, after the fault. */
const FAULT_AFTER_S = 20
const BACK_AFTER_S = 20
/** So long before the fault, waits count: the processes are warm by then. */
const CALM_S = 10
/** How long a user tries to get a code, or an answer to one. */
const PATIENCE_MS = 40_000
/** How long a user's app waits for an answer. */
const ANSWER_WITHIN_MS = 12_000
/** A user types a code at most so long after its request was answered. */
const TYPING_MS = 5_000
/** One user in so many types wrong codes. */
const GUESSES_EVERY = 10
const WRONG_CODES = 2

/** The users of two processes of the service, and what they were answered. */
function crowd(services, gateway) {
  const users = []
  const failures = []
  const doors = services.map(({ port }) => ({ port, connections: connectionsTo(port) }))
  let posts = 0

  /** The answer to a form; without a `status` if there was none. Users come back when a 503 says so. */
  async function post(path, user, { code, headers } = {}) {
    const form = { User: user.email, Type: 'EMAIL' }
    if (code) Object.assign(form, { Code: code, Challenge: user.challenge })
    const { port, connections } = doors[posts++ % doors.length]
    try {
      const request = serviceRequest(port, path, new URLSearchParams(form).toString(), headers)
      const { status, head, body } = await connections.send(request, ANSWER_WITHIN_MS)
      if (status === 503) failures.push(performance.now())
      const [, retryAfterSeconds = 1] = /\r\nretry-after: (\d+)/i.exec(head) ?? []
      return { status, body: JSON.parse(body), retryAfterMs: Number(retryAfterSeconds) * 1_000 }
    } catch {
      failures.push(performance.now())
      return { retryAfterMs: 1_000 }
    }
  }
  /** Repeats a request until it gets another answer than 409 and 503, or the user gives up. */
  async function persist(path, user, more) {
    const began = performance.now()
    for (let isRepeated = false; performance.now() - began < PATIENCE_MS; isRepeated = true) {
      const answer = await post(path, user, more)
      if (answer.status !== undefined && ![409, 503].includes(answer.status)) return { ...answer, isRepeated }
      await wait(answer.retryAfterMs)
    }
    return { isRepeated: true }
  }
  async function live(user) {
    const headers = { 'idempotency-key': randomUUID() }
    const answer = await persist('/v1/mfa', user, { headers })
    if (answer.status === undefined) return
    if (answer.status !== 200) {
      user.wrong = `request: ${answer.status} ${answer.body.code}`
      return
    }
    Object.assign(user, { answeredAt: performance.now(), challenge: answer.body.challenge })
    await wait(Math.random() * TYPING_MS)
    // A message that was queued comes later than the answer.
    const lastCode = async () => (await gateway.ask('codesTo', user.email)).at(-1)
    let code = await lastCode()
    while (!code && performance.now() - user.answeredAt < PATIENCE_MS) {
      await wait(250)
      code = await lastCode()
    }
    if (!code) return
    if (user.guesses) await guess(user, code)
    else await typeRight(user, code)
  }
  async function typeRight(user, code) {
    const answer = await persist('/v1/mfa/verify', user, { code })
    if (answer.status === 200) user.accepted = code
    else if (answer.status === 401) user.refused = answer.isRepeated ? 'repeated' : 'at once'
    else if (answer.status !== undefined) user.wrong = `right code: ${answer.status} ${answer.body.code}`
  }
  /** Wrong codes whose answers were clear, so that each has cost an attempt. */
  async function guess(user, code) {
    for (let left = WRONG_CODES; left > 0; left--) {
      const other = String((Number(code) + randomInt(1, 1_000_000)) % 1_000_000).padStart(6, '0')
      const answer = await post('/v1/mfa/verify', user, { code: other })
      if (answer.status === 401) user.wrongCodes++
      else if (answer.status === 200) user.wrong = 'a wrong code was accepted'
      await wait(1_000)
    }
  }
  return {
    users,
    failures,
    /** New users for some seconds, until all have finished. */
    async arrive(seconds) {
      const lives = []
      const began = performance.now()
      for (let due = 0; due < seconds * USERS_PER_SECOND; ) {
        due = Math.floor(Math.min((performance.now() - began) / 1_000, seconds) * USERS_PER_SECOND)
        while (users.length < due) {
          const number = users.length
          const user = { email: `user${number}@example.com`, began: performance.now(), wrongCodes: 0 }
          user.guesses = number % GUESSES_EVERY === 0
          users.push(user)
          lives.push(live(user))
        }
        await wait(5)
      }
      await Promise.all(lives)
    },
    /** Types every accepted code once more, after everything. */
    async typeAgain() {
      const again = users.filter(({ accepted }) => accepted)
      const worker = async () => {
        for (let user = again.pop(); user; user = again.pop()) {
          const answer = await persist('/v1/mfa/verify', user, { code: user.accepted })
          user.isAcceptedTwice = answer.status === 200
        }
      }
      await Promise.all(Array.from({ length: 16 }, worker))
    },
    close() {
      for (const { connections } of doors) connections.close()
    },
  }
}

const killAndRevive = (which) => async (cluster, begin) => {
  const machine = await cluster[which]()
  begin()
  cluster.kill(machine)
  await wait(BACK_AFTER_S * 1_000)
  cluster.revive(machine)
}

const FAULTS = {
  'primary killed': killAndRevive('primary'),
  'primary partitioned': async (cluster, begin) => {
    const machine = await cluster.primary()
    begin()
    cluster.cut(machine)
    await wait(BACK_AFTER_S * 1_000)
    cluster.mend(machine)
  },
  'switched over': async (cluster, begin) => {
    const machine = await cluster.primary()
    begin()
    await cluster.switchOver(machine)
  },
  'standby killed': killAndRevive('standby'),
}
const MODES = { synchronous: true, asynchronous: false }
const NAMES = Object.keys(MODES).flatMap((mode) => Object.keys(FAULTS).map((fault) => `${mode}: ${fault}`))

const seconds = (ms) => (ms / 1_000).toFixed(1)

async function measure(name) {
  const [mode, fault] = name.split(': ')
  const ends = []
  try {
    const gateway = await startApp('code-gateway')
    ends.push(gateway.stop)
    const cluster = await startPatroni({ synchronous: MODES[mode] })
    ends.push(cluster.stop)
    const env = {
      DATABASE_URL: cluster.url,
      SERVICE_DELIVERY: gateway.url,
      SERVICE_DRAIN_DURATION: '1s',
      SERVICE_LOG_LEVEL: 'error',
    }
    const services = []
    for (let left = 2; left > 0; left--) {
      const service = await startService({ node: process.execPath, env })
      ends.push(service.stop)
      services.push(service)
    }
    const { users, failures, arrive, typeAgain, close } = crowd(services, gateway)
    ends.push(close)
    let began
    const arriving = arrive(LOAD_S)
    await wait(FAULT_AFTER_S * 1_000)
    await FAULTS[fault](cluster, () => {
      began = performance.now()
    })
    await arriving
    await cluster.whole()
    const { rows } = await script(cluster.url, 'SELECT id, attempts FROM challenge')
    await typeAgain()

    const attempts = new Map(rows.map((row) => [row.id, row.attempts]))
    const answered = users.filter(({ answeredAt }) => answeredAt)
    const codes = new Map(await gateway.ask('codes'))
    const codesTo = ({ email }) => codes.get(email) ?? []
    const count = (list, test) => list.filter(test).length
    const forgotten = users.reduce((sum, { wrongCodes, challenge }) => {
      const kept = attempts.get(challenge)
      return kept === undefined ? sum : sum + Math.max(wrongCodes - kept, 0)
    }, 0)
    const late = failures.filter((at) => at >= began).map((at) => (at - began) / 1_000)
    const after = answered.filter(({ began: at }) => at > began)
    const waitsBefore = answered
      .filter(({ began: at, answeredAt }) => at > began - CALM_S * 1_000 && answeredAt < began)
      .map(({ began: at, answeredAt }) => answeredAt - at)
      .sort((a, b) => a - b)
    const wrong = users.filter((user) => user.wrong || new Set(codesTo(user)).size > 1)
    for (const user of wrong) console.log(`  wrong: ${user.wrong ?? 'a second code'}`)
    return [
      name,
      2 * USERS_PER_SECOND,
      users.length,
      users.length - answered.length,
      count(
        answered,
        (user) => codesTo(user).length === 0 || !attempts.has(user.challenge) || user.refused === 'at once',
      ),
      count(users, (user) => codesTo(user).length > 1),
      count(users, ({ isAcceptedTwice }) => isAcceptedTwice),
      forgotten,
      count(users, ({ refused, challenge }) => refused === 'repeated' && attempts.has(challenge)),
      wrong.length,
      new Set(late.map(Math.floor)).size,
      late.length === 0 ? '–' : Math.max(...late).toFixed(1),
      after.length === 0
        ? '–'
        : seconds(
            Math.max(
              ...gapsBetween(
                after.map(({ answeredAt }) => answeredAt),
                began,
              ),
            ),
          ),
      (percentile(waitsBefore, 0.99) / 1_000).toFixed(2),
    ]
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** The times from each moment to the next one, beginning with `first`. */
function gapsBetween(moments, first) {
  const sorted = [first, ...moments].sort((a, b) => a - b)
  return sorted.slice(1).map((moment, index) => moment - sorted[index])
}

const HEAD = [
  ...[
    'fault',
    'requests/s',
    'users',
    'no code',
    'lost',
    'sent twice',
    'accepted twice',
    'attempts forgotten',
  ],
  ...['no verdict', 'wrong', '503 (s)', 'last 503 (s)', 'gap (s)', 'p99 before (s)'],
]
const FILE = new URL('patroni.md', import.meta.url)

const versions = clusterVersions()
const table = await keptTable(FILE, HEAD, NAMES, measure)
const { processor, cores, memoryGigabytes, system } = describeMachine()
const { ttl, loop_wait, retry_timeout } = PATRONI_TIMES
writeFileSync(
  FILE,
  `# What users notice when the database moves to another machine

Written by \`npm run faults:patroni\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cores} cores of
${processor} with ${memoryGigabytes} GB, ${system}, which other work shared. ${versions}.

Three machines, which are processes of one, have a PostgreSQL, its Patroni and a member of etcd each, and reach the others through proxies.
Two processes of the service use the primary through HAProxy, which asks each Patroni every second
(\`GET /primary\`, \`fall 2\`, \`rise 1\`, \`on-marked-down shutdown-sessions\`). Patroni has \`ttl: ${ttl}\`, \`loop_wait: ${loop_wait}\` and
\`retry_timeout: ${retry_timeout}\`, and otherwise its defaults.

Users request a code for ${LOAD_S} seconds, with an \`Idempotency-Key\`, and type it within ${TYPING_MS / 1_000} seconds; one in ${GUESSES_EVERY} types ${WRONG_CODES} wrong codes
instead. They repeat what got 503 or no answer, for ${PATIENCE_MS / 1_000} seconds. \`USERS_PER_SECOND\` sets half of the sends and verifications per second.
The fault begins after ${FAULT_AFTER_S} seconds; what failed comes back ${BACK_AFTER_S} seconds later. In the end, every code that was accepted is typed once more.

- **synchronous**: \`synchronous_mode: true\`. A commit waits for one standby; Patroni does not promote the other one.
- **asynchronous**: \`synchronous_mode: false\`. No commit waits for a standby.
- **killed**: PostgreSQL, Patroni and the member of etcd get SIGKILL at once; of the standbys, the synchronous one.
- **partitioned**: the primary's machine and the others do not reach each other, but **both processes of the service still reach it**.
- **switched over**: \`POST /switchover\` of Patroni

${table}

- **requests/s**: sends and verifications per second before the fault
- **no code**: users without an answer in time
- **lost**: users whose code was said to be sent and did not come, or whose right code was refused
- **sent twice**: users who got two messages
- **accepted twice**: codes that were accepted again in the end
- **attempts forgotten**: wrong codes that do not count afterwards
- **no verdict**: users whose code was used up by a verification without an answer
- **wrong**: users with two different codes, or an answer other than 200, 401, 409 and 503
- **503 (s)**: the seconds in which a request got 503, or no answer
- **last 503 (s)**: the time from the fault to the last of these
- **gap (s)**: the longest time without an answer to a request that came after the fault
- **p99 before (s)**: of the waits in the ${CALM_S} seconds before the fault
`,
)
