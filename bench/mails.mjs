import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createTransport } from 'nodemailer'
import { smtpCarrier } from '../service/dist/carriers/smtp.js'
import { storedOutbox } from '../service/dist/delivery/outbox.js'
import { codeMessage } from '../service/dist/message-texts/compose.js'
import { keysFrom } from '../service/dist/secrets/keys.js'
import { openStore } from '../service/dist/store/open.js'
import { startPostgres } from './kit/postgres.mjs'
import { SECRET } from './kit/server.mjs'

// How many mails a second leave through the outbox, one in twenty refused with 451 at its first try, beside the same
// mails handed straight to nodemailer. `sent at once`: each is written and tried, as a request does, 50 at a time.
// `found`: they were left lying by a process that died, and the worker finds them.
const [mails = 5_000, rounds = 3] = process.argv.slice(2).map(Number)
const AT_ONCE = 50
const FROM = 'Vault <no-reply@vault.example>'
const keys = keysFrom(SECRET)

const mailServer = fork(new URL('./kit/mail-server.mjs', import.meta.url))
const [{ port }] = await once(mailServer, 'message')
const count = async () => {
  mailServer.send('count')
  const [counted] = await once(mailServer, 'message')
  return counted
}

const message = (i) =>
  codeMessage(
    { name: 'Vault', origin: undefined },
    { channel: 'email', to: `p${i}@example.com`, locale: 'en' },
    { code: '012345', purpose: 'sign-in', secondsLeft: 600 },
  )

/** Does `work` for each number, so many at once. */
async function each(most, work) {
  let next = 0
  const one = async () => {
    while (next < most) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

/** Times `work` by the clock on the wall and by this process's processor time, and asks what arrived. */
async function measured(what, work) {
  const began = performance.now()
  const cpu = process.cpuUsage()
  await work()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const told = await count()
  const result = {
    what,
    perSecond: Math.round(mails / seconds),
    cpuMsPerMail: Number(((user + system) / 1000 / mails).toFixed(2)),
    lost: mails - told.arrived,
    ...told,
  }
  console.log(JSON.stringify(result))
  return result
}

async function bare() {
  const transport = createTransport({ pool: true, host: '127.0.0.1', port, secure: false })
  await measured('nodemailer alone', () =>
    each(mails, async (i) => {
      const { to, subject, text, html } = message(i)
      const mail = { from: FROM, to, subject, text, html }
      await transport.sendMail(mail).catch(() => transport.sendMail(mail))
    }),
  )
  transport.close()
}

async function through(name, where) {
  const store = await openStore({ dataDir: 'memory://', keyId: keys.id, ...where })
  const settings = { host: '127.0.0.1', port, secure: false, tls: 'optional', from: FROM }
  const open = () => {
    const carrier = smtpCarrier(settings)
    return { carrier, outbox: storedOutbox({ store, keys, carriers: { email: carrier }, log: () => {} }) }
  }
  const close = async ({ outbox, carrier }) => {
    await outbox.close()
    await carrier.close()
  }
  const left = async () => {
    const [row] = await store.query("SELECT count(*)::integer AS n FROM outbox WHERE state <> 'sent'")
    return row.n
  }
  const untilAllLeft = async () => {
    while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const enqueue = (outbox, from, to, now) =>
    store.transaction((tx) =>
      outbox.enqueue(
        tx,
        'bench',
        Array.from({ length: to - from }, (_, i) => message(from + i)),
        { now, expiresAt: now + 600_000 },
      ),
    )

  const sending = open()
  await measured(`${name}, sent at once`, async () => {
    await each(mails, async (i) => {
      await sending.outbox.dispatch(await enqueue(sending.outbox, i, i + 1, Date.now()))
    })
    await untilAllLeft()
  })
  await close(sending)

  const writer = open()
  for (let i = 0; i < mails; i += 500) await enqueue(writer.outbox, i, i + 500, Date.now() - 15_000)
  await measured(`${name}, found`, async () => {
    await writer.outbox.work()
    await untilAllLeft()
  })
  await close(writer)
  await store.query('DELETE FROM outbox')
  await store.close()
}

const postgres = await startPostgres()
try {
  for (let round = 0; round < rounds; round++) {
    await bare()
    await through('PostgreSQL', { databaseUrl: postgres.url })
    await through('PGlite', {})
  }
} finally {
  await postgres.stop()
  mailServer.disconnect()
  mailServer.kill()
}
