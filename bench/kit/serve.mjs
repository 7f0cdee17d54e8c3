import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Serves the app that `build({ url })` returns on a free port of the loopback interface, or on `PORT`, and answers the benchmark's
 * questions: `usage` tells the processor time so far in microseconds, and the memory in bytes. `answers` adds more.
 */
export async function serve(build, answers = {}) {
  const server = createServer()
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.on('request', await build({ url: `http://127.0.0.1:${port}` }))
  const known = { usage, ...answers }
  process.on('message', async ({ id, question, value }) => {
    process.send({ id, answer: await known[question](value) })
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

function usage() {
  globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  return { processorUs: user + system, rss, heapUsed }
}
