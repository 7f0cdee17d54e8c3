import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const CODE_GATEWAY = fileURLToPath(new URL('../apps/code-gateway.mjs', import.meta.url))

/** A gateway that takes every message at once. `env` makes a service deliver to it, without a limit that a measurement would reach. */
export async function startGateway() {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    env: {
      SERVICE_DELIVERY: `http://127.0.0.1:${server.address().port}`,
      SERVICE_SENDS_PER_APPLICATION_DAY: '1000000',
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A gateway in a process of its own, which takes every message at once. `codesTo` returns the codes that it took for an address. */
export async function startCodeGateway() {
  const child = fork(CODE_GATEWAY)
  const [{ port }] = await once(child, 'message')
  const codes = new Map()
  child.on('message', ({ taken }) => {
    for (const [to, code] of taken) codes.set(to, [...(codes.get(to) ?? []), code])
  })
  return {
    url: `http://127.0.0.1:${port}/`,
    codesTo: (address) => codes.get(address) ?? [],
    async stop() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
