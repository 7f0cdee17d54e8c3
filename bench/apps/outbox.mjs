import { createTransport } from 'nodemailer'
import {
  activityCounter,
  codeMessage,
  deriveKeys,
  mailHtml,
  openStore,
  smtpCarrier,
  storedOutbox,
} from '../../service/dist/parts.js'
import { serve } from '../kit/serve.mjs'
import { SECRET } from '../kit/service.mjs'

// Mails through the service's outbox, or handed straight to nodemailer, on demand.
const SMTP_PORT = Number(process.env.SMTP_PORT)
const FROM = 'Vault <no-reply@vault.example>'
const AT_ONCE = 50
const keys = deriveKeys(SECRET)
const settings = { host: '127.0.0.1', port: SMTP_PORT, secure: false, tls: 'optional', from: FROM }
const { DATABASE_URL } = process.env
let store

const message = (i) =>
  codeMessage(
    { name: 'Vault', origin: undefined },
    { channel: 'email', to: `p${i}@example.com`, locale: 'en' },
    { code: '012345', purpose: 'sign-in', secondsLeft: 600 },
  )

const mailOf = (content) => {
  const { to, subject, text } = content
  return { from: FROM, to, subject, text, html: mailHtml(content) }
}

/** Does `work` for each number, so many at once. */
async function each(most, work) {
  let next = 0
  const one = async () => {
    while (next < most) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

async function timed(mails, work) {
  const began = performance.now()
  const before = process.cpuUsage()
  await work()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(before)
  return { perSecond: mails / seconds, processorUs: (user + system) / mails }
}

async function untilAllLeft() {
  for (;;) {
    const [row] = await store.query("SELECT count(*)::integer AS n FROM outbox WHERE state <> 'sent'")
    if (row.n === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function withOutbox(work) {
  const carrier = smtpCarrier(settings)
  const outbox = storedOutbox({
    activity: activityCounter(store, () => {}),
    store,
    keys,
    carriers: { email: carrier },
    deliveryOf: async () => ({ senders: {}, carriers: {}, hasComplained: async () => false }),
    log: () => {},
  })
  // One statement, as in a request for a code.
  const enqueue = (from, to, now) =>
    outbox.enqueue(
      store,
      'bench',
      Array.from({ length: to - from }, (_, i) => message(from + i)),
      { now, expiresAt: now + 600_000, account: 'account:bench' },
    )
  const result = await work(outbox, enqueue)
  await outbox.close()
  await carrier.close()
  await store.query('DELETE FROM outbox')
  return result
}

serve(
  async () => {
    store = await openStore({
      dataDir: 'memory://',
      keyId: keys.id,
      ...(DATABASE_URL && { databaseUrl: DATABASE_URL }),
    })
    return (_req, res) => res.end()
  },
  {
    /** Nodemailer alone, with a pool, which tries a mail that was refused once more. */
    alone: async (mails) => {
      const transport = createTransport({ pool: true, host: '127.0.0.1', port: SMTP_PORT, secure: false })
      const result = await timed(mails, () =>
        each(mails, async (i) => {
          const mail = mailOf(message(i))
          await transport.sendMail(mail).catch(() => transport.sendMail(mail))
        }),
      )
      transport.close()
      return result
    },
    /** Each mail is written and tried at once, as a request does. */
    sentAtOnce: (mails) =>
      withOutbox((outbox, enqueue) =>
        timed(mails, async () => {
          await each(mails, async (i) => outbox.dispatch(await enqueue(i, i + 1, Date.now())))
          await untilAllLeft()
        }),
      ),
    /** The mails were left by a process that died, and the worker finds them. */
    found: (mails) =>
      withOutbox(async (outbox, enqueue) => {
        for (let i = 0; i < mails; i += 500) {
          await enqueue(i, Math.min(i + 500, mails), Date.now() - 15_000)
        }
        return timed(mails, async () => {
          await outbox.poll()
          await untilAllLeft()
        })
      }),
  },
)
