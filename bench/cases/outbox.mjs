import { fork } from 'node:child_process'
import { once } from 'node:events'
import { comparison } from '../kit/comparison.mjs'
import { startPostgres } from '../kit/postgres.mjs'

export const title = 'The service: mails through the outbox, beside nodemailer alone'
export const meaning = `Fifty mails at a time go to an SMTP server that takes them at once. "Sent at once" is what a request does: each mail is written
to the outbox and tried. "Found" are mails that a process left when it died. In a last round, one mail in twenty is refused
at its first try; no mail may be lost or sent twice. The service composes a mail at once, and nodemailer alone does so in streams, so
the outbox can be the faster one.`

export async function run(bench) {
  const mailServer = fork(new URL('../apps/mail-server.mjs', import.meta.url))
  bench.defer(() => mailServer.kill())
  const [{ port }] = await once(mailServer, 'message')
  const postgres = await startPostgres()
  bench.defer(postgres.stop)
  const env = { SMTP_PORT: String(port) }
  const onPostgres = await bench.start('outbox', { env: { ...env, DATABASE_URL: postgres.url } })
  const onPglite = await bench.start('outbox', { env })
  const again = await bench.start('outbox', { env })
  const kinds = [
    ['nodemailer alone, pooled', onPostgres, 'alone'],
    ['nodemailer alone, pooled, again', again, 'alone'],
    ['PostgreSQL, sent at once', onPostgres, 'sentAtOnce'],
    ['PostgreSQL, found by the worker', onPostgres, 'found'],
    ['PGlite, sent at once', onPglite, 'sentAtOnce'],
    ['PGlite, found by the worker', onPglite, 'found'],
  ]
  const mails = 200
  const measured = Object.fromEntries(kinds.map(([name]) => [name, []]))
  const send = async ([name, app, way]) => {
    const result = await app.ask(way, mails)
    mailServer.send({ question: 'count' })
    const [{ arrived, doubled, refused }] = await once(mailServer, 'message')
    if (arrived !== mails || doubled > 0) {
      throw new Error(`${name}: of ${mails} mails ${arrived} arrived, ${doubled} of them twice.`)
    }
    return { ...result, refused }
  }
  for (let round = -1; round < bench.rounds; round++) {
    for (const kind of kinds) {
      const { perSecond, processorUs } = await send(kind)
      if (round >= 0) measured[kind[0]].push({ perSecond, processorUs })
    }
  }
  mailServer.send({ question: 'refuse', value: true })
  for (const kind of kinds) {
    const { refused } = await send(kind)
    if (refused !== mails / 20) throw new Error(`${kind[0]}: ${refused} mails were refused at first.`)
  }
  const [[alone], [aloneAgain], ...others] = kinds
  return others.map(([name]) =>
    comparison(`outbox: ${name}`, alone, {
      ours: measured[name],
      theirs: measured[alone],
      // The program twice is what the others are measured beside.
      same: [measured[alone], measured[aloneAgain]],
      by: 'rate',
    }),
  )
}
