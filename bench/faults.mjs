// What users notice when something fails: codes are requested from two processes of the service while one part of it fails, and each
// code is typed. The result is in bench/faults.md. Run it with `npm run faults`; it takes about half an hour and needs
// PostgreSQL. With words, such as `database killed`, it runs only the faults whose name contains one of them, and replaces their rows.
import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SMTPServer } from 'smtp-server'
import { eventEndpoint } from './kit/event-endpoint.mjs'
import { faultProxy } from './kit/fault-proxy.mjs'
import { describeMachine } from './kit/machine.mjs'
import { asPostgres, giveToPostgres, runAsPostgres, script, startPostgres } from './kit/postgres.mjs'
import { API_KEY, ROOT, SECRET, startService } from './kit/service.mjs'
import { OUTAGE_KINDS, serviceOutage } from './kit/service-outage.mjs'
import { keptTable } from './report/kept-table.mjs'

const USERS_PER_SECOND = 10
const LOAD_S = 25
/** When the fault begins, after the load. */
const FAULT_AFTER_S = 5
/** How long a user tries to get a code. */
const PATIENCE_MS = 40_000

/** How the addresses begin that the mail server does not know, so that each message to them is an event. */
const NOBODY = 'nobody'

/** A mail server that accepts after a tenth of a second, as real ones do. */
async function mailServer() {
  const mails = new Map()
  let held
  let isDown = false
  let isMute = false
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 50,
    onRcptTo: ({ address }, _session, done) =>
      address.startsWith(NOBODY) ? done(Object.assign(new Error('unknown'), { responseCode: 550 })) : done(),
    onConnect: (_session, done) =>
      isDown ? done(Object.assign(new Error('down'), { responseCode: 421 })) : done(),
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (chunk) => {
        text += chunk
      })
      stream.on('end', () => {
        const { address } = session.envelope.rcptTo[0]
        const code = /^Subject: .*?(\d{6})/m.exec(text)?.[1]
        mails.set(address, [...(mails.get(address) ?? []), code])
        if (held) held.push(done)
        else if (!isMute) setTimeout(done, 50 + Math.random() * 100)
      })
    },
  })
  server.on('error', () => {})
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.server.address().port,
    mailsTo: (address) => mails.get(address) ?? [],
    count: () => mails.size,
    hold() {
      held = []
    },
    release() {
      const answers = held ?? []
      held = undefined
      for (const accept of answers) accept()
    },
    setDown(down) {
      isDown = down
    },
    setMute(mute) {
      isMute = mute
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Two processes of the service, the first one with `files`, behind a proxy to one PostgreSQL with `settings`, and a mail server. */
async function stage({ files, settings = () => [] } = {}) {
  const folders = []
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-faults-'))
    folders.push(folder)
    return folder
  }
  const folder = newFolder()
  const mails = await mailServer()
  let postgres = await startPostgres({ folder, more: settings(folder) })
  const proxy = await faultProxy(postgres.port)
  const env = {
    DATABASE_URL: `postgresql://postgres@127.0.0.1:${proxy.port}/postgres`,
    SERVICE_DELIVERY: `smtp://127.0.0.1:${mails.port}?from=no-reply@vault.example&tls=optional&connections=20`,
    SERVICE_DRAIN_DURATION: '1s',
    SERVICE_LOG_LEVEL: 'error',
  }
  const start = (more = {}) =>
    startService({ node: process.execPath, env: { ...env, ...more.env }, files: more.files })
  const services = [await start({ files }), await start()]
  return {
    mails,
    proxy,
    services,
    url: () => postgres.url,
    async command(args, more = {}) {
      // Not at once: the proxy to the database is in this process.
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(ROOT, 'service/dist/cli/main.js'), ...args],
        { env: { PATH: process.env.PATH, SERVICE_SECRET: SECRET, ...env, ...more } },
      )
      return stdout
    },
    /** Takes a base backup; the returned function loses the server, and restores it from the backup and the archived logs. */
    backUp() {
      const copy = newFolder()
      giveToPostgres(copy)
      runAsPostgres(join(ROOT, 'service/deploy/base-backup.sh'), [postgres.url, join(copy, 'base')])
      return async () => {
        proxy.cut()
        const [{ time }] = (await script(postgres.url, 'SELECT now()::text AS time')).rows
        // PostgreSQL recovers to a time only if a later transaction shows that it was reached.
        await script(postgres.url, 'SELECT pg_current_xact_id()')
        const [{ name }] = (await script(postgres.url, 'SELECT pg_walfile_name(pg_switch_wal()) AS name'))
          .rows
        while (!existsSync(join(folder, 'archive', name))) await wait(50)
        process.kill(postgres.pid, 'SIGQUIT')
        const args = [join(copy, 'base'), join(folder, 'archive'), join(copy, 'data'), time]
        runAsPostgres(join(ROOT, 'service/deploy/restore.sh'), args)
        postgres = await startPostgres({ folder: copy })
        while ((await script(postgres.url, 'SELECT pg_is_in_recovery() AS is')).rows[0].is) await wait(50)
        proxy.moveTo(postgres.port)
        proxy.mend()
      }
    },
    /** As many connections to the first process as it accepts and some more, which send nothing. */
    async occupy() {
      const sockets = Array.from({ length: 400 }, () =>
        connect(services[0].port, '127.0.0.1').on('error', () => {}),
      )
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      return () => {
        for (const socket of sockets) socket.destroy()
      }
    },
    async crash() {
      process.kill(postgres.pid, 'SIGQUIT')
      await wait(3_000)
      postgres = await startPostgres({ folder })
      proxy.moveTo(postgres.port)
    },
    async hang(seconds) {
      const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postgres.pid)], {
        encoding: 'utf8',
      })
      const all = [postgres.pid, ...children.trim().split(/\s+/).map(Number)]
      for (const pid of all) process.kill(pid, 'SIGSTOP')
      await wait(seconds * 1_000)
      for (const pid of all) process.kill(pid, 'SIGCONT')
    },
    async failOver(whenStandbyIsThere) {
      const copy = newFolder()
      giveToPostgres(copy)
      const args = ['-d', postgres.url, '-D', join(copy, 'data'), '-R', '-c', 'fast', '--no-sync']
      execFileSync(...asPostgres('pg_basebackup', args), { cwd: '/' })
      const standby = await startPostgres({ folder: copy })
      await whenStandbyIsThere()
      process.kill(postgres.pid, 'SIGQUIT')
      postgres = standby
      await script(standby.url, 'SELECT pg_promote(false)')
      while ((await script(standby.url, 'SELECT pg_is_in_recovery() AS is')).rows[0].is) await wait(50)
      proxy.moveTo(standby.port)
    },
    kill(nth) {
      process.kill(services[nth].pid, 'SIGKILL')
    },
    async replace(nth, { stop = false, ...more } = {}) {
      if (stop) await services[nth].stop()
      services[nth] = await start(more)
    },
    async stop() {
      proxy.mend()
      await Promise.all(services.map((service) => service.stop()))
      proxy.stop()
      await mails.stop()
      await postgres.stop()
      for (const one of folders) rmSync(one, { recursive: true, force: true })
    },
  }
}

let users = 0

/** A user who requests a code, by either process, until one answers. */
async function request(where, results) {
  const number = users++
  const user = { email: `user${number}@example.com`, began: performance.now() }
  results.push(user)
  const key = randomUUID()
  for (let attempt = number; performance.now() - user.began < PATIENCE_MS; attempt++) {
    const answer = await post(where.services[attempt % 2].url, '/v1/mfa', user, { 'idempotency-key': key })
    if (answer?.status === 200) {
      user.answeredAt = performance.now()
      user.challenge = answer.body.challenge
      return
    }
    if (answer && ![409, 503].includes(answer.status)) {
      user.wrong = `${answer.status} ${answer.body.code}`
      return
    }
    await wait(500)
  }
}

/** The answer to a form; `undefined` without one. */
async function post(url, path, { email, challenge, code }, headers = {}) {
  const body = new URLSearchParams({ User: email, Type: 'EMAIL' })
  if (code) body.set('Code', code)
  if (challenge) body.set('Challenge', challenge)
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, connection: 'close', ...headers },
      body,
      signal: AbortSignal.timeout(12_000),
    })
    return { status: response.status, body: await response.json() }
  } catch {
    return undefined
  }
}

/** Types each code twice: the first time it is right, the second time it is not. */
async function typeCodes(where, results) {
  for (const user of results) {
    const [code] = where.mails.mailsTo(user.email)
    if (!user.answeredAt || !code) continue
    const typed = { ...user, code }
    const first = await post(where.services[0].url, '/v1/mfa/verify', typed)
    const second = await post(where.services[1].url, '/v1/mfa/verify', typed)
    if (first?.status !== 200) user.wrong = `right code: ${first?.status}`
    if (second?.status !== 401) user.wrong = `used code: ${second?.status}`
  }
}

const queued = async (url) =>
  (await script(url, "SELECT count(*)::integer AS n FROM outbox WHERE state = 'queued'")).rows[0].n

/** Ten users a second, while `fault` happens. */
const underLoad = (fault) => async (where) => {
  const results = []
  const requests = []
  const times = {}
  const failing = wait(FAULT_AFTER_S * 1_000).then(async () => {
    await fault(where, () => {
      times.began = performance.now()
    })
  })
  const until = performance.now() + LOAD_S * 1_000
  while (performance.now() < until) {
    requests.push(request(where, results))
    await wait(1_000 / USERS_PER_SECOND)
  }
  await failing
  await Promise.all(requests)
  return { results, began: times.began }
}

/** Ten users whose messages the mail server has, but has not accepted, when `fault` begins. */
const duringHandOver = (fault) => async (where) => {
  const results = []
  const before = where.mails.count()
  where.mails.hold()
  const requests = Array.from({ length: 10 }, () => request(where, results))
  while (where.mails.count() < before + 10) await wait(10)
  const began = performance.now()
  await fault(where)
  await Promise.all(requests)
  return { results, began }
}

const NEW_SECRET = 'another secret for benchmarks that is as long as the first one'

const FAULTS = {
  'database away for 20 s during a hand-over': duringHandOver(async ({ mails, proxy }) => {
    proxy.cut()
    mails.release()
    await wait(20_000)
    proxy.mend()
  }),
  'database away for 20 s': underLoad(async ({ proxy }, begin) => {
    begin()
    proxy.cut()
    await wait(20_000)
    proxy.mend()
  }),
  'database crashes and restarts after 3 s': underLoad(async (where, begin) => {
    begin()
    await where.crash()
  }),
  'database hangs for 10 s': underLoad(async (where, begin) => {
    begin()
    await where.hang(10)
  }),
  'failover to a standby': underLoad(async (where, begin) => {
    await where.failOver(begin)
  }),
  'one process killed during a hand-over': duringHandOver(async (where) => {
    where.kill(0)
    where.mails.release()
    await where.replace(0)
  }),
  'one process killed': underLoad(async (where, begin) => {
    begin()
    where.kill(0)
    await wait(2_000)
    await where.replace(0)
  }),
  'both processes restarted in turn': underLoad(async (where, begin) => {
    begin()
    for (const nth of [0, 1]) await where.replace(nth, { stop: true })
  }),
  'mail server away for 10 s': underLoad(async ({ mails }, begin) => {
    begin()
    mails.setDown(true)
    await wait(10_000)
    mails.setDown(false)
  }),
  'mail server accepts for 3 s without saying so': underLoad(async ({ mails }, begin) => {
    begin()
    mails.setMute(true)
    await wait(3_000)
    mails.setMute(false)
  }),
  'database lost, restored from its backup': underLoad(async (where, begin) => {
    const lose = where.backUp()
    begin()
    await lose()
  }),
  'secrets rotated': underLoad(async (where, begin) => {
    begin()
    for (const env of [
      { SERVICE_SECRET: SECRET, SERVICE_PREVIOUS_SECRETS: NEW_SECRET },
      { SERVICE_SECRET: NEW_SECRET, SERVICE_PREVIOUS_SECRETS: SECRET.replaceAll(',', '%2C') },
    ]) {
      for (const nth of [0, 1]) await where.replace(nth, { stop: true, env })
      if (env.SERVICE_SECRET === NEW_SECRET) await where.command(['rotate-secrets'], env)
    }
  }),
  'one process without free file descriptors for 10 s': underLoad(async (where, begin) => {
    begin()
    const leave = await where.occupy()
    await wait(10_000)
    leave()
  }),
}

/** What a fault needs. */
const STAGES = {
  'database lost, restored from its backup': {
    settings: (folder) => {
      execFileSync('mkdir', ['-p', '-m', '777', join(folder, 'archive')])
      return ['archive_mode=on', `archive_command=cp %p ${folder}/archive/%f`]
    },
  },
  'one process without free file descriptors for 10 s': { files: 256 },
}

/** What happens to an endpoint for events, while each of five requests per second causes one event. */
const ENDPOINT_FAULTS = {
  'endpoint answers 500 for 15 s': (endpoint) => endpoint.be('failing', 15_000),
  'endpoint not there for 15 s': (endpoint) => endpoint.be('away', 15_000),
  'endpoint takes 12 s for each answer, for 15 s': (endpoint) => endpoint.be('slow', 15_000),
  'endpoint accepts for 5 s without saying so': (endpoint) => endpoint.be('mute', 5_000),
  'endpoint wants no more (410), resumed after 10 s': async (endpoint, where) => {
    await endpoint.be('gone', 10_000)
    await where.command(['webhook', 'resume', 'default', endpoint.id])
  },
  'one process killed, with requests to a slow endpoint': async (endpoint, where) => {
    const slow = endpoint.be('slow', 5_000)
    await wait(2_000)
    where.kill(0)
    await slow
    await where.replace(0)
  },
}

const EVENTS_PER_SECOND = 5

/** Requests a code for an address that the mail server does not know, until it is refused. */
async function refusedRequest(where, results) {
  const number = users++
  const user = { email: `${NOBODY}${number}@example.com`, began: performance.now() }
  const key = randomUUID()
  for (let attempt = number; performance.now() - user.began < PATIENCE_MS; attempt++) {
    const answer = await post(where.services[attempt % 2].url, '/v1/mfa', user, { 'idempotency-key': key })
    if (answer?.status === 422) return results.push(user)
    await wait(500)
  }
}

async function measureEndpoint(name) {
  const where = await stage()
  const endpoint = await eventEndpoint(async (url) =>
    JSON.parse(
      await where.command([
        '--json',
        'webhook',
        'create',
        'default',
        '--url',
        url,
        '--events',
        'message.failed',
      ]),
    ),
  )
  try {
    const results = []
    const requests = []
    const times = {}
    const failing = wait(FAULT_AFTER_S * 1_000).then(async () => {
      await ENDPOINT_FAULTS[name](endpoint, where)
      times.ended = performance.now()
    })
    const until = performance.now() + LOAD_S * 1_000
    while (performance.now() < until) {
      requests.push(refusedRequest(where, results))
      await wait(1_000 / EVENTS_PER_SECOND)
    }
    await failing
    await Promise.all(requests)
    const count = async (condition) =>
      (await script(where.url(), `SELECT count(*)::integer AS n FROM event_delivery WHERE ${condition}`))
        .rows[0].n
    for (let left = 300; left > 0 && (await count("state = 'queued'")) > 0; left--) await wait(1_000)
    const written = await count('true')
    const accepted = [...endpoint.accepted.values()]
    return [
      name,
      results.length,
      Math.max(results.length - written, 0),
      written - accepted.length,
      accepted.filter(({ times: count }) => count > 1).length,
      endpoint.wrong(),
      seconds(Math.max(...accepted.map(({ at }) => at)) - times.ended),
    ]
  } finally {
    await endpoint.close()
    await where.stop()
  }
}

const seconds = (ms) => (ms / 1_000).toFixed(1)

async function measure(name) {
  const where = await stage(STAGES[name])
  try {
    await script(where.url(), 'SELECT 1')
    const { results, began } = await FAULTS[name](where)
    for (let left = 120; left > 0 && (await queued(where.url())) > 0; left--) await wait(1_000)
    await wait(1_000)
    await typeCodes(where, results)
    const answered = results.filter(({ answeredAt }) => answeredAt)
    const mailsTo = ({ email }) => where.mails.mailsTo(email)
    const inHand = results.filter(({ began: at, answeredAt }) => at <= began && !(answeredAt <= began))
    const after = answered.filter(({ began: at }) => at > began)
    const wrong = results.filter((user) => user.wrong || new Set(mailsTo(user)).size > 1)
    for (const { wrong: what } of wrong) console.log(`  wrong: ${what ?? 'a second code'}`)
    return [
      name,
      results.length,
      inHand.length,
      results.length - answered.length,
      answered.filter((user) => mailsTo(user).length === 0).length,
      results.filter((user) => mailsTo(user).length > 1).length,
      wrong.length,
      after.length === 0 ? '–' : seconds(Math.min(...after.map(({ answeredAt }) => answeredAt)) - began),
      seconds(Math.max(...answered.map(({ answeredAt, began: at }) => answeredAt - at))),
    ]
  } finally {
    await where.stop()
  }
}

const HEAD = [
  ...['fault', 'users', 'in hand', 'no code', 'lost', 'doubled', 'wrong'],
  ...['first success (s)', 'longest wait (s)'],
]
const ENDPOINT_HEAD = ['fault', 'events', 'not written', 'lost', 'doubled', 'wrong', 'last one (s)']
const OUTAGE_HEAD = ['service stopped for 60 s', 'responses', 'answered after its return']
const FILE = new URL('faults.md', import.meta.url)

let outage

/** One run measures all kinds of sessions. */
async function measureOutage(kind) {
  outage ??= serviceOutage()
  const row = (await outage).find(([name]) => name === kind)
  if (!row) throw new Error(`The outage has no row ${kind}.`)
  return row
}

const table = await keptTable(FILE, HEAD, Object.keys(FAULTS), measure)
const endpointTable = await keptTable(FILE, ENDPOINT_HEAD, Object.keys(ENDPOINT_FAULTS), measureEndpoint)
const outageTable = await keptTable(FILE, OUTAGE_HEAD, OUTAGE_KINDS, measureOutage)
const { processor, cores, memoryGigabytes, system } = describeMachine()
writeFileSync(
  FILE,
  `# What users notice of faults

Written by \`npm run faults\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cores} cores of
${processor} with ${memoryGigabytes} GB, ${system}. A run
measures the rows that it names; the others were measured before.

## Requesting a code

Two processes of the service share one PostgreSQL. ${USERS_PER_SECOND} users per second request a code for ${LOAD_S} seconds, by either process, and try
again with the same \`Idempotency-Key\` for ${PATIENCE_MS / 1_000} seconds. The fault begins after ${FAULT_AFTER_S} seconds. "During a hand-over": the mail server has all
messages, and has not accepted them yet. Then each code is typed twice.

${table}

- **in hand**: requests that waited for their answer when the fault began
- **no code**: users without an answer in time
- **lost**: users who were told that their code was sent or queued, and got none
- **doubled**: users who got the same code twice
- **wrong**: users with two different codes, a right code refused, a used code accepted, or an answer other than 200, 409 and 503
- **first success**: from the fault until a request that came after it got its code
- **longest wait**: of a user, for an answer

## Pages and sign-ins of an app

The service of an app stops for 60 seconds. Sessions of each kind load pages, and new users sign in, one after the other, also after its
return. The app has \`login.recheck: '1m'\`, so that each session is decided again in the middle of the outage. The run fails if the password
alone signs a user in.

${outageTable}

## Endpoints for events

${EVENTS_PER_SECOND} messages per second are refused by the mail server for ${LOAD_S} seconds, each of which is an event (\`message.failed\`) for one endpoint.

${endpointTable}

- **not written**: events that do not exist, because the endpoint was disabled, as [documented](../service/docs/events.md)
- **lost**: events that exist and that the endpoint never accepted
- **doubled**: events that it accepted more than once, with the same \`webhook-id\`
- **wrong**: requests with a wrong signature, or with another body than an earlier one of the same event
- **last one**: from the end of the fault until the last event was accepted, after the waits of 5 and 30 seconds, and 2 minutes
`,
)
