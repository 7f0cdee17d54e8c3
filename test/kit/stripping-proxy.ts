import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express as App } from 'express'
import { onTestFinished } from 'vitest'
import { listen } from './sockets.js'

/**
 * Starts the app behind a proxy that removes a prefix from each path, until the end of the test, and returns the port of
 * the proxy. The proxy responds 404 to other paths.
 */
export async function behindStrippingProxy(app: App, prefix: string): Promise<number> {
  const target = await listen(app)
  const proxy = createServer((req, res) => {
    const { method, url = '' } = req
    if (!url.startsWith(`${prefix}/`)) return void res.writeHead(404).end('not behind this proxy')
    const { port } = proxy.address() as AddressInfo
    const headers = {
      ...req.headers,
      host: `127.0.0.1:${target}`,
      'x-forwarded-host': `127.0.0.1:${port}`,
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': prefix,
    }
    const path = url.slice(prefix.length)
    const onwards = request({ host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onwards.on('error', () => res.writeHead(502).end())
    req.pipe(onwards)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return (proxy.address() as AddressInfo).port
}
