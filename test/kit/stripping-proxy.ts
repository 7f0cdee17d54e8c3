import { createServer, request } from 'node:http'
import type { Express as App } from 'express'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from './loopback.js'
import { listen } from './sockets.js'

/**
 * Starts the app behind a proxy that removes a prefix from each path, until the end of the test, and returns the port of
 * the proxy. The proxy responds 404 to other paths.
 */
export async function behindStrippingProxy(app: App, prefix: string): Promise<number> {
  const target = await listen(app)
  const proxy = createServer((req, res) => {
    const { method, url = '' } = req
    if (!url.startsWith(`${prefix}/`))
      return void res.writeHead(404).end('The path lacks the prefix of this proxy.')
    const headers = {
      ...req.headers,
      host: `127.0.0.1:${target}`,
      'x-forwarded-host': `127.0.0.1:${proxyPort}`,
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': prefix,
    }
    const path = url.slice(prefix.length)
    const forwarded = request({ host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    forwarded.on('error', () => res.writeHead(502).end())
    req.pipe(forwarded)
  })
  const proxyPort = await listenOnLoopback(proxy)
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return proxyPort
}
