import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AppRoute } from './app-routes.js'

/** An Express app, as far as its types agree between versions. */
export type HostApp = RequestListener

/** A browser without redirects: takes paths like `fetch`, keeps cookies, asks for JSON unless told otherwise. */
export type BypassAgent = (
  path: string,
  init?: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  },
) => Promise<Response>

/** A running app that is watched. */
export type ProbedApp = Awaited<ReturnType<typeof probedApp>>

const PATIENCE_MS = 2_000

/**
 * The app on a port of this machine, watched from outside: which requests still held a user when they were answered.
 * The app's own code stays as it is.
 */
export async function probedApp(app: HostApp, headers: Readonly<Record<string, string>>) {
  let held: AppRoute[] = []
  const server = createServer((req, res) => {
    const { method = '', url = '' } = req
    const { writeHead } = res
    Object.assign(res, {
      writeHead(...given: unknown[]) {
        if (holdsUser(req)) held.push({ method, path: url })
        return Reflect.apply(writeHead, res, given)
      },
    })
    app(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

  return {
    /** The requests that held a user when they were answered, since this was last asked. */
    takeHeld(): readonly AppRoute[] {
      const taken = held
      held = []
      return taken
    },
    /** A new browser. */
    agent(): BypassAgent {
      const jar = new Map<string, string>()
      return async (path, init = {}) => {
        const cookies = [...jar].map((pair) => pair.join('=')).join('; ')
        const answer = await fetch(new URL(path, origin), {
          ...init,
          headers: {
            Accept: 'application/json',
            ...headers,
            ...(cookies && { Cookie: cookies }),
            ...init.headers,
          },
          redirect: 'manual',
          signal: AbortSignal.timeout(PATIENCE_MS),
        })
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          jar.set(name, value)
        }
        return answer
      }
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Whether Passport, or whatever imitates it, holds a user for this request, under whichever name. */
function holdsUser(req: IncomingMessage & { user?: unknown; isAuthenticated?: () => unknown }): boolean {
  return Boolean(req.user) || Boolean(req.isAuthenticated?.())
}
