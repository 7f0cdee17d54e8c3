import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listenOnLoopback } from '../../kit/loopback.js'

/** An answer that does not come from the service. */
export interface OddAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A proxy in front of the processes of the service, which passes requests to them by turns. */
export interface ServiceProxy {
  readonly url: string
  /** Answers requests for this path by itself; without an answer, the service answers them again. */
  answer(path: string, odd?: OddAnswer): void
  /** Passes all requests to these processes from now on. */
  passTo(...urls: readonly string[]): void
  stop(): Promise<void>
}

/** Starts a proxy that passes requests to these processes. */
export async function serviceProxy(...urls: readonly string[]): Promise<ServiceProxy> {
  const odd = new Map<string, OddAnswer>()
  let [targets, turn] = [urls, 0]

  const pass = (incoming: IncomingMessage, response: ServerResponse) => {
    const target = targets[turn++ % targets.length]
    const { method, headers } = incoming
    const onward = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    incoming.pipe(onward)
  }
  const server = createServer((incoming, response) => {
    const answer = odd.get(incoming.url ?? '')
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body)
    else pass(incoming, response)
  })
  // Longer than the app does, whose next request must not meet a closed connection on a busy machine.
  server.keepAliveTimeout = 65_000
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
    answer(path, answer) {
      if (answer) odd.set(path, answer)
      else odd.delete(path)
    },
    passTo(...next) {
      targets = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
