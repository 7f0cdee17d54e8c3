import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { vi } from 'vitest'
import { listenOnLoopback } from '../../kit/loopback.js'
import { PATIENCE_MS } from '../../kit/patience.js'

/** A message of the service, or a notice of the app. */
export interface Mail {
  /** The id of a message, which may come twice. */
  readonly id?: string
  readonly to: string
  readonly text: string
  /** The code of a message. */
  readonly code?: string
  /** The type of a notice. */
  readonly type?: string
  /** The link in a notice. */
  readonly link?: string
}

/** The messages that every user of a deployment receives, on mailboxes and phones. */
export interface Mailboxes {
  readonly url: string
  /** Waits for a code to this contact, which is returned once. */
  code(to: string): Promise<string>
  /** Waits for a notice of this type to this contact. */
  notice(to: string, type: string): Promise<Mail>
  /** Refuses all mail to this contact from now on, or accepts it again. */
  refuse(to: string, isRefused?: boolean): void
  stop(): Promise<void>
}

/** Starts the server that messages of the services and notices of the apps are posted to. */
export async function openMailboxes(): Promise<Mailboxes> {
  const mails: Mail[] = []
  const refused = new Set<string>()
  const ids = new Set<string>()
  const server = createServer(async (request, response) => {
    const mail = (await json(request)) as Mail
    const isRefused = refused.has(mail.to)
    const isKnown = mail.id !== undefined && ids.has(mail.id)
    if (!isRefused && mail.id !== undefined) ids.add(mail.id)
    if (!isRefused && !isKnown) mails.push(mail)
    response.writeHead(isRefused ? 503 : 204).end()
  })
  const port = await listenOnLoopback(server)
  const find = (fits: (mail: Mail) => boolean, what: string) =>
    vi.waitFor(
      () => {
        const found = mails.findLast(fits)
        if (!found) throw new Error(`No ${what} came; there is ${JSON.stringify(mails.slice(-5))}`)
        return found
      },
      { timeout: PATIENCE_MS, interval: 10 },
    )
  return {
    url: `http://127.0.0.1:${port}`,
    async code(to) {
      const mail = await find((one) => one.to === to && one.code !== undefined, `code to ${to}`)
      mails.splice(mails.indexOf(mail), 1)
      return mail.code ?? ''
    },
    notice: (to, type) => find((one) => one.to === to && one.type === type, `${type} to ${to}`),
    refuse(to, isRefused = true) {
      if (isRefused) refused.add(to)
      else refused.delete(to)
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
