import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** How long the body of a request may take to arrive, unless its route allows more. */
const BODY_TIMEOUT_MS = 20_000

const timers = new WeakMap<IncomingMessage, (ms: number) => void>()

/** Calls `onTimeout` for the connection of a request whose body takes too long to arrive. */
export function limitBodyTime(
  listener: RequestListener,
  onTimeout: (socket: Socket) => void,
): RequestListener {
  return function limitedBody(request, response) {
    if (hasBody(request)) {
      const end = () => {
        if (request.complete) return
        if (response.headersSent) request.socket.destroy()
        else onTimeout(request.socket)
      }
      let timer = setTimeout(end, BODY_TIMEOUT_MS)
      timers.set(request, (ms) => {
        clearTimeout(timer)
        if (!request.complete) timer = setTimeout(end, ms)
      })
      const stop = () => clearTimeout(timer)
      request.once('end', stop).once('close', stop)
    }
    listener(request, response)
  }
}

/** Lets the rest of a body take this long from now; by default as long as every body. On a server of the host, its own limits apply. */
export function limitBody(request: IncomingMessage, ms = BODY_TIMEOUT_MS): void {
  timers.get(request)?.(ms)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
