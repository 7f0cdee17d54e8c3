import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { AppRoute } from './app-routes.js'
import { probeUpgrade, type UpgradeAnswer, type UpgradeProbe, type UpgradeProbes } from './upgrade-probe.js'

/** An Express app, by the part of its type that all Express versions share. */
export type HostApp = RequestListener

/**
 * A browser that follows no redirects: it takes paths like `fetch`, keeps cookies, and accepts JSON unless `headers`
 * say otherwise.
 */
export type ProbeAgent = (
  path: string,
  init?: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  },
) => Promise<Response>

/** A running app whose requests are observed. */
export type ProbedApp = Awaited<ReturnType<typeof probedApp>>

const TIMEOUT_MS = 2_000

/**
 * Runs the app on a port of this machine and records which requests have a user when they are answered. The app itself
 * is not changed.
 */
export async function probedApp(
  app: HostApp,
  headers: Readonly<Record<string, string>>,
  attach: UpgradeProbes['attach'] = () => {},
) {
  let withUser: AppRoute[] = []
  const cookiesOf = new WeakMap<ProbeAgent, () => Record<string, string>>()
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
    /** Returns the requests that had a user when they were answered, and clears the list. */
    takeRequestsWithUser(): readonly AppRoute[] {
      const taken = withUser
      withUser = []
      return taken
    },
    /** A new browser without cookies. */
    agent(): ProbeAgent {
      const jar = new Map<string, string>()
      const cookieHeader = (): Record<string, string> => {
        const cookies = [...jar].map((pair) => pair.join('=')).join('; ')
        return cookies ? { Cookie: cookies } : {}
      }
      const agent: ProbeAgent = async (path, init = {}) => {
        const answer = await fetch(new URL(path, origin), {
          ...init,
          headers: {
            Accept: 'application/json',
            ...headers,
            ...cookieHeader(),
            ...init.headers,
          },
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          jar.set(name, value)
        }
        return answer
      }
      cookiesOf.set(agent, cookieHeader)
      return agent
    },
    /** Opens a connection with the cookies of a browser. */
    connect(agent: ProbeAgent, probe: UpgradeProbe): Promise<UpgradeAnswer> {
      return probeUpgrade(origin, probe, { ...headers, ...cookiesOf.get(agent)?.() })
    },
    async close(): Promise<void> {
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
