import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Browser } from './browser.js'

/** Opens a WebSocket with the cookies of a browser. Returns the first message, or the status of the refusal. */
export async function openSocket(agent: Browser['one'], path: string): Promise<string | number> {
  const { url } = agent.get(path)
  const cookies = agent.jar.getCookies({ domain: '127.0.0.1', path: '/', secure: false, script: false })
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { cookie: cookies.toValueString() } })
  socket.on('error', () => {})
  const greeted = once(socket, 'message').then(([data]) => String(data))
  const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number)
  try {
    return await Promise.race([greeted, refused])
  } finally {
    socket.terminate()
  }
}
