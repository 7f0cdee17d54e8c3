import { Server } from 'socket.io'
import { app } from './app.js'
import { endWithSession } from './end-with-session.js'
import { mfa } from './mfa.js'

/** socket.io at `/socket.io`, for all namespaces and both transports. */
export function openSocketIo(server) {
  const upgrades = new WeakMap()
  const io = new Server(server, {
    // Other upgrade requests are for `ws.js`.
    destroyUpgrade: false,
    async allowRequest(req, decide) {
      try {
        const upgrade = await mfa.upgrade(req, app)
        upgrades.set(req, upgrade)
        decide(upgrade.refusal, upgrade.outcome === 'signed_in')
      } catch (error) {
        console.error(error)
        decide('service_unavailable', false)
      }
    },
  })
  io.on('connection', (socket) => {
    const upgrade = upgrades.get(socket.request)
    socket.on(
      'disconnect',
      endWithSession(upgrade, () => socket.disconnect(true)),
    )
    socket.emit('hello', upgrade.user.username)
  })
}
