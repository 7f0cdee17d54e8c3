import { WebSocketServer } from 'ws'
import { app } from './app.js'
import { endWithSession } from './end-with-session.js'
import { mfa } from './mfa.js'

/** WebSockets at `/ws`. */
export function openWebSockets(server) {
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', async (req, socket, head) => {
    if (req.url.split('?')[0] !== '/ws') return
    socket.on('error', () => socket.destroy())
    try {
      const upgrade = await mfa.upgrade(req, app)
      if (upgrade.outcome === 'refused') return socket.end(upgrade.response)
      sockets.handleUpgrade(req, socket, head, (ws) => {
        ws.on('error', () => ws.terminate())
        ws.on(
          'close',
          endWithSession(upgrade, () => ws.close(4401, 'signed out')),
        )
        ws.send(`hello ${upgrade.user.username}`)
      })
    } catch (error) {
      console.error(error)
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n')
    }
  })
}
