import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { STREAM_PATH } from 'countersign/protocol'
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
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?', 1)[0]
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket'
    if (isWebSocket && path === `${mountPath}${STREAM_PATH}`) return void accept(request, socket, head)
    if (server.listenerCount('upgrade') > 1) return
    socket.on('error', () => socket.destroy())
    if (isWebSocket) respondOnSocket(socket, 'not_found')
    else withoutUpgrade(server, request, socket, head)
  })
}

/** Gives the server the same request once more, without the header `Upgrade`. */
function withoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = rawHeaders.flatMap((name, i) =>
    i % 2 === 1 || UPGRADE_HEADERS.includes(name.toLowerCase()) ? [] : [`${name}: ${rawHeaders[i + 1]}`],
  )
  const text = [`${method} ${url} HTTP/${httpVersion}`, ...lines, '', ''].join('\r\n')
  socket.unshift(Buffer.concat([Buffer.from(text, 'latin1'), head]))
  server.emit('connection', socket)
}
