import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { fileOf, missing } from '../../../test/kit/debian-packages.js'
import type { Answer, OpenedCarrier } from './contract.js'

/** A refusal as real servers phrase it: with the recipient's address. */
export interface SmtpAnswer {
  readonly at: 'mail' | 'to' | 'data'
  readonly code: number
  readonly text?: string
}

type Answering = (recipient: string, at: SmtpAnswer['at']) => SmtpAnswer | undefined

const ANSWERS: Readonly<Record<Answer, SmtpAnswer | undefined>> = {
  accept: undefined,
  'unknown recipient': { at: 'to', code: 550, text: '5.1.1 <zoe@example.com>: unknown user' },
  refused: { at: 'data', code: 554, text: '5.7.1 relaying 012345 for zoe@example.com denied' },
  overloaded: { at: 'to', code: 421, text: '4.3.2 zoe@example.com: try again later' },
  'no response': undefined,
}

/** A mail server on a free port of this machine, with the user `vault`. */
export async function mailServer(
  options: {
    readonly tls?: 'starttls' | 'smtps' | 'none'
    /** The host that its certificate names. Defaults to this machine. */
    readonly host?: string
    /** Whether its certificate ended years ago. */
    readonly isExpired?: boolean
  } = {},
) {
  const { tls = 'none' } = options
  const certificate = tls === 'none' ? undefined : selfMadeCertificate(options)
  const arrived: { from: string; to: string[]; content: string; encrypted: boolean }[] = []
  const held: (() => void)[] = []
  let connections = 0
  let answerTo: Answering = () => undefined
  let silent = false
  let acceptLater: (() => void)[] | undefined
  const refusal = (at: SmtpAnswer['at'], recipient = '') => {
    const answer = answerTo(recipient, at)
    if (answer?.at !== at) return undefined
    return Object.assign(new Error(answer.text ?? 'not taken'), { responseCode: answer.code })
  }
  const server = new SMTPServer({
    authOptional: true,
    secure: tls === 'smtps',
    ...(certificate && { key: certificate.key, cert: certificate.pem }),
    disabledCommands: tls === 'none' ? ['STARTTLS'] : [],
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections += 1
      done()
    },
    closeTimeout: 50,
    onAuth: ({ username, password }, _session, done) =>
      username === 'vault' && password === 'p%w@rd'
        ? done(null, { user: username })
        : done(Object.assign(new Error('Invalid login'), { responseCode: 535 })),
    onMailFrom: (_address, _session, done) => done(refusal('mail')),
    onRcptTo: ({ address }, _session, done) => (silent ? held.push(done) : done(refusal('to', address))),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const refused = refusal('data', rcptTo[0]?.address)
        if (refused) return done(refused)
        arrived.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map((recipient) => recipient.address),
          content: Buffer.concat(chunks).toString('utf8'),
          encrypted: session.secure,
        })
        const accept = () => done(null, 'OK: queued as 4F2B1')
        if (acceptLater) acceptLater.push(accept)
        else accept()
      })
    },
  })
  // Some tests close the connection, or do not trust the certificate.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    certificate: certificate?.path,
    arrived,
    /** The number of connections so far. */
    connections: () => connections,
    /** Sets the response to every email, or to each recipient. */
    answerWith(next: SmtpAnswer | undefined | Answering) {
      answerTo = typeof next === 'function' ? next : () => next
    },
    answer(how: Answer) {
      silent = how === 'no response'
      answerTo = () => ANSWERS[how]
    },
    /** Receives emails without saying so, until the function that it returns is called. */
    holdAcceptance() {
      const held: (() => void)[] = []
      acceptLater = held
      return () => {
        acceptLater = undefined
        for (const accept of held) accept()
      }
    },
    close: () =>
      new Promise<void>((resolve) => {
        certificate?.remove()
        server.close(resolve)
      }),
  }
}

export type MailServer = Awaited<ReturnType<typeof mailServer>>

/** The server as the receiver of a carrier. */
export function farEnd(server: MailServer): Omit<OpenedCarrier, 'carrier'> {
  const { arrived, answer, close } = server
  return { arrived, answer, close, secrets: ['p%w@rd', Buffer.from('\0vault\0p%w@rd').toString('base64')] }
}

/** Why certificates cannot be created; `undefined` if they can. In CI this is an error. */
export const opensslMissing = missing('openssl')

function selfMadeCertificate({
  host,
  isExpired = false,
}: {
  readonly host?: string
  readonly isExpired?: boolean
}) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
  const path = join(folder, 'certificate.pem')
  const keyPath = join(folder, 'key.pem')
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const about = [
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    `subjectAltName=${host === undefined ? 'DNS:localhost,IP:127.0.0.1' : `DNS:${host}`}`,
  ]
  const past = { LD_PRELOAD: fileOf('faketime'), FAKETIME: '2020-01-01 00:00:00' }
  execFileSync('openssl', [...request, ...about, '-keyout', keyPath, '-out', path], {
    stdio: 'ignore',
    env: { ...process.env, ...(isExpired && past) },
  })
  return {
    path,
    pem: readFileSync(path, 'utf8'),
    key: readFileSync(keyPath, 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
