import { type RequestListener, Server } from 'node:http'

/** A server that supertest opens for the first request, and cannot close after it. */
class OpenServer extends Server {
  override close(done?: (error?: Error) => void): this {
    done?.()
    return this
  }

  end(): void {
    super.close()
    this.closeAllConnections()
  }
}

const servers = new Map<RequestListener, OpenServer>()

/**
 * The server of an app for supertest, which stays open until the test file ends. To open and close one for every request takes as
 * long as the request itself.
 */
export function serverOf(app: RequestListener): Server {
  const server = servers.get(app) ?? new OpenServer(app)
  servers.set(app, server)
  return server
}

/** Closes what `serverOf` opened. */
export function closeServers(): void {
  for (const server of servers.values()) server.end()
  servers.clear()
}
