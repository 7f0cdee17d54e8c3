import { randomBytes } from 'node:crypto'
import { type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { Socket } from 'node:net'

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
  /**
   * Whether the server treats the connection as signed in. By default, it does if the connection stays open while that of an
   * anonymous visitor does not, or if it gets other messages.
   */
  readonly isSignedIn?: ((answer: UpgradeAnswer) => boolean) | undefined
}

/** What a server does with a connection within a moment after the handshake. */
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
export function probeUpgrade(
  origin: string,
  { path, send = [] }: UpgradeProbe,
  headers: IncomingHttpHeaders,
): Promise<UpgradeAnswer> {
  return new Promise((resolve) => {
    const refused = (status: number) => resolve({ status, isOpen: false, messages: [] })
    const sent = request(new URL(path, origin), {
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
    sent.on('error', () => refused(0))
    sent.on('response', (response) => {
      response.resume()
      refused(response.statusCode ?? 0)
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
