import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { streamWire } from 'countersign/protocol'
import { respondOnSocket } from '../socket-problem.js'

type AcceptStream = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

/** Headers that only concern the connection that they came with. */
const UPGRADE_HEADERS = ['upgrade', 'connection', 'http2-settings']

/**
 * Accepts WebSockets for streams at `path` of a server. Without a listener, Node ignores the header `Upgrade`; with one, it
 * leaves all such requests to the listeners. So if there is no other listener, a WebSocket for another path is refused, and
 * any other upgrade, such as the one to HTTP/2 that Java's client offers, is ignored as before.
 */
export function attachStreams(server: Server, accept: AcceptStream, mountPath = ''): void {
  const isIgnored = (request: IncomingMessage) =>
    !isWebSocket(request) && server.listenerCount('upgrade') === 1
  ignoreUpgrades(server, isIgnored)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?', 1)[0]
    if (isWebSocket(request) && path === `${mountPath}${streamWire.STREAM_PATH}`)
      return void accept(request, socket, head)
    if (server.listenerCount('upgrade') > 1) return
    socket.on('error', () => socket.destroy())
    if (isIgnored(request)) withoutUpgrade(server, request, socket, head)
    else respondOnSocket(socket, 'not_found')
  })
}

const isWebSocket = (request: IncomingMessage) => request.headers.upgrade?.toLowerCase() === 'websocket'

/** Lets Node ignore the header `Upgrade` of these requests. Node 20 has no such function. */
function ignoreUpgrades(server: Server, isIgnored: (request: IncomingMessage) => boolean): void {
  const shouldUpgrade: unknown = Reflect.get(server, 'shouldUpgradeCallback')
  if (typeof shouldUpgrade !== 'function') return
  Reflect.set(
    server,
    'shouldUpgradeCallback',
    (request: IncomingMessage) => !isIgnored(request) && shouldUpgrade.call(server, request),
  )
}

/** Gives the server the same request once more, without the header `Upgrade`, where Node could not ignore it. */
function withoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = rawHeaders.flatMap((name, i) =>
    i % 2 === 1 || UPGRADE_HEADERS.includes(name.toLowerCase()) ? [] : [`${name}: ${rawHeaders[i + 1]}`],
  )
  const text = [`${method} ${url} HTTP/${httpVersion}`, ...lines, '', ''].join('\r\n')
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]))
  server.emit('connection', socket)
}
