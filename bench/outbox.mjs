import { SMTPServer } from 'smtp-server'
import { outboxRows } from '../service/dist/delivery/outbox-rows.js'
import { keysFrom } from '../service/dist/secrets/keys.js'
import { postgresStore } from '../service/dist/store/postgres.js'
import { startPostgres } from './kit/postgres.mjs'
import { processorMs, SECRET, startService } from './kit/server.mjs'

// How many mails a second leave the outbox for an SMTP server that refuses one in twenty at first.
const [mails = 5_000] = process.argv.slice(2).map(Number)

const accepted = new Map()
const refused = new Set()
let first = 0
let last = 0
let most = 0
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, done) {
    let source = ''
    stream.on('data', (chunk) => {
      source += chunk
    })
    stream.on('end', () => {
      const id = /^Message-ID: (\S+)/im.exec(source)?.[1] ?? ''
      if (!refused.has(id) && Math.random() < 0.05) {
        refused.add(id)
        return done(Object.assign(new Error('Try again later'), { responseCode: 451 }))
      }
      accepted.set(id, (accepted.get(id) ?? 0) + 1)
      last = performance.now()
      first ||= last
      if (accepted.size === Math.floor(mails * 0.9)) most = last
      done()
    })
  },
})
await new Promise((resolve) => smtp.listen(0, '127.0.0.1', resolve))
const delivery = `smtp://127.0.0.1:${smtp.server.address().port}?from=bench@vault.example`

const postgres = await startPostgres()
const service = await startService({ DATABASE_URL: postgres.url, SERVICE_DELIVERY: delivery })
const store = postgresStore(postgres.url)
const rows = outboxRows(store, keysFrom(SECRET))
const now = Date.now()
const message = (n) => ({
  ...{ channel: 'email', to: `person${n}@example.com`, purpose: 'sign-in', locale: 'en', code: '123456' },
  ...{ subject: '123456 is your Bench code', text: '123456 is your Bench code', html: '<p>123456</p>' },
})
for (let from = 0; from < mails; from += 500) {
  const messages = Array.from({ length: Math.min(500, mails - from) }, (_, i) => message(from + i))
  await rows.insert(store, 'default', messages, { now, expiresAt: now + 600_000 })
}
const before = processorMs(service.pid)
await store.query('UPDATE outbox SET due_at = 0')
for (const end = performance.now() + 300_000; accepted.size < mails && performance.now() < end; ) {
  await new Promise((resolve) => setTimeout(resolve, 100))
}
const cost = processorMs(service.pid) - before
const twice = [...accepted.values()].filter((times) => times > 1).length
const rate = (count, since) => Math.round((count / since) * 1000)
console.log(
  JSON.stringify({
    mails,
    lost: mails - accepted.size,
    doubled: twice,
    refusedAtFirst: refused.size,
    // The last ones waited for their second try, so the first nine tenths tell the pace.
    perSecond: rate(mails * 0.9, most - first),
    perSecondWithRetries: rate(mails, last - first),
    processorUs: Math.round((cost / mails) * 1000),
  }),
)
await store.close()
await service.stop()
await postgres.stop()
smtp.close()
