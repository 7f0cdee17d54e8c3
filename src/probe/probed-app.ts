import { randomBytes } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { request as requestOverTls } from 'node:https'
import type { Socket } from 'node:net'
import { getRouteAddress } from '../routes/routes.js'
import { createTokenStore, type KeptTokens } from './answer-tokens.js'
import type { AppRoute } from './app-routes.js'

/** An Express app, by the part of its type that all Express versions share. */
export type HostApp = RequestListener

/** A browser that keeps cookies, or a reference and a token, follows no redirects, and accepts JSON unless `headers` say otherwise. */
export type ProbeAgent = (
  path: string,
  init?: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  },
) => Promise<Response>

/** The cookies of a browser by name. `sameSite` is in lower case, and empty for a cookie without it. */
export type Cookies = ReadonlyMap<string, { readonly value: string; readonly sameSite: string }>

/** An app that runs, and browsers that send requests to it. */
export interface ProbedApp {
  /** Returns the requests that had a user when they were answered, and clears the list. Only an app in this process shows them. */
  takeRequestsWithUser(): readonly AppRoute[]
  /** A new browser, with these cookies or without any. */
  agent(cookies?: Cookies): ProbeAgent
  /** A copy of the cookies that a browser has. */
  cookiesOf(agent: ProbeAgent): Cookies
  /** Opens a connection with the cookies of a browser. */
  connect(agent: ProbeAgent, probe: UpgradeProbe): Promise<UpgradeAnswer>
}

type Headers = Readonly<Record<string, string>>

const TIMEOUT_MS = 2_000

/** An app that runs at an origin, in whatever process. */
export function runningApp(
  origin: string,
  headers: Headers,
  { timeoutMs = TIMEOUT_MS, mount = '/mfa' }: { readonly timeoutMs?: number; readonly mount?: string } = {},
): ProbedApp {
  /** Pending logins without cookies. The one that was used longest ago comes first. */
  const pending = new Set<KeptTokens>()
  const canceled = new WeakSet<KeptTokens>()
  /** Makes room for a login that the app refuses, since it keeps only some of a user open. */
  const cancelOldest = async (refusal: Response): Promise<boolean> => {
    const [oldest] = pending
    const text = refusal.status === 429 && oldest ? await refusal.clone().text() : ''
    if (!oldest || !text.includes('"too_many_logins"')) return false
    pending.delete(oldest)
    canceled.add(oldest)
    const { method, path } = getRouteAddress(mount, 'cancel')
    await fetch(new URL(path, origin), {
      method,
      headers: { Accept: 'application/json', ...headers, ...oldest.headers() },
      signal: AbortSignal.timeout(timeoutMs),
    })
    return true
  }
  const jars = new WeakMap<ProbeAgent, Cookies>()
  const cookieHeader = (jar: Cookies = new Map()): Headers =>
    jar.size > 0 ? { Cookie: [...jar].map(([name, { value }]) => `${name}=${value}`).join('; ') } : {}
  return {
    takeRequestsWithUser: () => [],
    agent(cookies) {
      const jar = new Map(cookies)
      const tokens = createTokenStore()
      const createAgent: ProbeAgent = async (path, init = {}) => {
        if (canceled.has(tokens)) throw new Error('this login was canceled to make room for others')
        const send = () =>
          fetch(new URL(path, origin), {
            ...init,
            headers: {
              ...{ Accept: 'application/json', ...headers, ...cookieHeader(jar), ...tokens.headers() },
              ...init.headers,
            },
            redirect: 'manual',
            signal: AbortSignal.timeout(timeoutMs),
          })
        let answer = await send()
        while (await cancelOldest(answer)) answer = await send()
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          const [, sameSite = ''] = /;\s*samesite=(\w+)/i.exec(line) ?? []
          // A cookie that is cleared is empty.
          if (value === '') jar.delete(name)
          else jar.set(name, { value, sameSite: sameSite.toLowerCase() })
        }
        await tokens.keep(answer)
        pending.delete(tokens)
        if (tokens.isPending()) pending.add(tokens)
        return answer
      }
      jars.set(createAgent, jar)
      return createAgent
    },
    cookiesOf: (agent) => new Map(jars.get(agent)),
    connect: (agent, probe) => probeUpgrade(origin, probe, { ...headers, ...cookieHeader(jars.get(agent)) }),
  }
}

/** Runs the app on a port and records which requests have a user. The app itself is not changed. */
export async function probedApp(
  app: HostApp,
  headers: Headers,
  attach: UpgradeProbes['attach'] = () => {},
): Promise<ProbedApp & { close(): Promise<void> }> {
  let withUser: AppRoute[] = []
  const server = createServer((req, res) => {
    const { method = '', url = '' } = req
    const { writeHead } = res
    Object.assign(res, {
      writeHead(...args: unknown[]) {
        if (hasUser(req)) withUser.push({ method, path: url })
        return Reflect.apply(writeHead, res, args)
      },
    })
    app(req, res)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

  return {
    ...runningApp(origin, headers),
    takeRequestsWithUser() {
      const taken = withUser
      withUser = []
      return taken
    },
    async close() {
      server.closeAllConnections()
      // Upgraded connections do not count as connections of the HTTP server.
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Whether the request has a user, for Passport or for code that imitates it under another property name. */
function hasUser(req: IncomingMessage & { user?: unknown; isAuthenticated?: () => unknown }): boolean {
  return Boolean(req.user) || Boolean(req.isAuthenticated?.())
}

/** The WebSocket servers of an app, and the paths to probe. */
export interface UpgradeProbes {
  /** Attaches your WebSocket servers to the HTTP server of the probe, as your app does with its own. */
  readonly attach: (server: Server) => unknown
  /** The paths to connect to, with their query. */
  readonly paths: readonly (string | UpgradeProbe)[]
}

/** A path that accepts upgrades, and how to tell that it treats a connection as signed in. */
export interface UpgradeProbe {
  /** The path, with its query. */
  readonly path: string
  /** Text messages to send once the connection is open, such as `40` for socket.io. Defaults to none. */
  readonly send?: readonly string[] | undefined
  /** Whether the connection is signed in. Defaults to whether it stays open, or gets messages, as no anonymous one does. */
  readonly isSignedIn?: ((answer: UpgradeAnswer) => boolean) | undefined
}

/** The actions of a server with a connection within a moment after the handshake. */
export interface UpgradeAnswer {
  /** The HTTP status: 101 for a connection that was opened, 0 without a response. */
  readonly status: number
  /** Whether the connection is still open. */
  readonly isOpen: boolean
  /** The text messages that arrived. */
  readonly messages: readonly string[]
}

/** How long the server may take for the handshake, and how long its messages are awaited after it. */
const HANDSHAKE_MS = 2_000
const MESSAGES_MS = 300

/** Connects to a path with these headers, and waits a moment for messages. */
function probeUpgrade(
  origin: string,
  { path, send = [] }: UpgradeProbe,
  headers: IncomingHttpHeaders,
): Promise<UpgradeAnswer> {
  return new Promise((resolve) => {
    const reportRefused = (status: number) => resolve({ status, isOpen: false, messages: [] })
    const url = new URL(path, origin)
    const sent = (url.protocol === 'https:' ? requestOverTls : request)(url, {
      timeout: HANDSHAKE_MS,
      headers: {
        ...headers,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      },
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => reportRefused(0))
    sent.on('response', (response) => {
      response.resume()
      reportRefused(response.statusCode ?? 0)
    })
    sent.on('upgrade', (response, socket: Socket, head) => {
      for (const text of send) socket.write(textFrame(text))
      void listen(socket, head).then((heard) => resolve({ status: response.statusCode ?? 0, ...heard }))
    })
    sent.end()
  })
}

/** Collects what arrives on an open connection, until it ends or the time is over. */
function listen(socket: Socket, head: Buffer): Promise<Omit<UpgradeAnswer, 'status'>> {
  return new Promise((resolve) => {
    let received = head
    const finish = (hasEnded: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const { messages, isClosed } = readFrames(received)
      resolve({ messages, isOpen: !hasEnded && !isClosed })
    }
    const timer = setTimeout(finish, MESSAGES_MS, false)
    socket.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part])
    })
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
  })
}

const TEXT = 1
const CLOSE = 8

/** The text messages in the frames that a server sent (RFC 6455 §5.2), and whether it closed the connection. */
function readFrames(bytes: Buffer): { readonly messages: string[]; readonly isClosed: boolean } {
  const messages: string[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const opcode = bytes.readUInt8(at) & 0x0f
    const short = bytes.readUInt8(at + 1) & 0x7f
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0
    const start = at + 2 + extra
    if (start > bytes.length) break
    const length = extra === 0 ? short : bytes.readUIntBE(start - Math.min(extra, 6), Math.min(extra, 6))
    if (opcode === CLOSE) return { messages, isClosed: true }
    if (opcode === TEXT) messages.push(bytes.subarray(start, start + length).toString())
    at = start + length
  }
  return { messages, isClosed: false }
}

/** A text message of a client, which masks what it sends (RFC 6455 §5.3). */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  if (payload.length > 125) throw new RangeError('A message of a probe has at most 125 bytes.')
  const mask = randomBytes(4)
  const masked = payload.map((byte, at) => byte ^ mask.readUInt8(at % 4))
  return Buffer.concat([Buffer.from([0x80 | TEXT, 0x80 | payload.length]), mask, masked])
}
