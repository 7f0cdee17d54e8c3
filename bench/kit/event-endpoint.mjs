import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { verifyWebhook } from '../../dist/esm/index.mjs'

const SLOW_MS = 12_000

/**
 * An endpoint for events, which `create` makes known to the service. It accepts every event with a right signature, except while it is
 * `failing` (500), `away` (no connection), `slow`, `mute` (accepts, and hangs up instead of saying so) or `gone` (410).
 */
export async function eventEndpoint(create) {
  const accepted = new Map()
  const bodies = new Map()
  let wrong = 0
  let state = 'well'
  let secrets = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const id = request.headers['webhook-id']
    try {
      verifyWebhook(body, request.headers, secrets)
      if (bodies.has(id) && bodies.get(id) !== body.toString()) wrong++
    } catch {
      wrong++
    }
    bodies.set(id, body.toString())
    if (state === 'failing') return response.writeHead(500).end()
    if (state === 'gone') return response.writeHead(410).end()
    if (state === 'slow') await wait(SLOW_MS)
    accepted.set(id, { times: (accepted.get(id)?.times ?? 0) + 1, at: performance.now() })
    if (state === 'mute') return response.destroy()
    response.writeHead(204).end()
  })
  server.on('connection', (socket) => {
    if (state === 'away') socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { id, secret } = await create(`http://127.0.0.1:${server.address().port}/events`)
  secrets = [secret]
  return {
    id,
    /** The events that it accepted: how often, and when last. */
    accepted,
    wrong: () => wrong,
    async be(next, ms) {
      state = next
      if (next === 'away') server.closeAllConnections()
      await wait(ms)
      state = 'well'
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
