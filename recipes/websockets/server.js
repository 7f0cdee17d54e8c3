import { createServer } from 'node:http'
import { app } from './app.js'
import { openEvents } from './events.js'
import { service } from './mfa.js'
import { openSocketIo } from './socket-io.js'
import { openWebSockets } from './ws.js'

openEvents()
const server = createServer(app)
openWebSockets(server)
openSocketIo(server)
server.listen(Number(process.env.PORT ?? 3000), 'localhost', () => {
  console.log(`Listens on http://localhost:${server.address().port}`)
})
process.once('SIGTERM', () => {
  server.close(() => service.close())
  server.closeAllConnections()
})
