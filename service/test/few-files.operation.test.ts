import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readFileLimit } from '../src/process/file-limit.js'
import { API_KEY, eventually, freshEmail, SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { type Running, start, startListening } from './processes.js'

const FILES = 256
const CONNECTIONS = 192

test('a process that may open too few files does not start, and says how many it needs', async () => {
  const started = start({}, 100)
  expect(await started.ended).toBe(1)
  expect(started.output()).toMatch(
    /^This process may open 100 files and connections, but the service needs at least 256\. Raise the limit: LimitNOFILE=[^\n]*\n$/,
  )
})

test('as many connections are accepted as leave files for the service itself', () => {
  expect(readFileLimit(255)).toEqual({ fault: expect.stringContaining('at least 256') })
  expect(readFileLimit(256)).toEqual({
    connections: CONNECTIONS,
    warning: expect.stringContaining('at most 192'),
  })
  expect(readFileLimit(1_024)).toEqual({ connections: 768 })
  expect(readFileLimit(1_048_576)).toEqual({ connections: 1_048_576 - 256 })
})

describe.skipIf(postgresMissing)('a process that may open few files', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let service: Running
  beforeAll(async () => {
    postgres = await startPostgres()
    const env = { DATABASE_URL: postgres.url, SERVICE_SECRET: SECRET, SERVICE_API_KEY: API_KEY }
    service = await startListening(env, FILES)
  })
  afterAll(async () => {
    service?.child.kill('SIGKILL')
    await service?.ended
    await postgres?.stop()
  })

  /** Requests a code over a connection of the agent, or a new one. */
  function send(agent: Agent | false): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/x-www-form-urlencoded',
      }
      const call = request(
        `${service.url}/v1/mfa`,
        { method: 'POST', agent, headers },
        (response: IncomingMessage) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0))
        },
      )
      call.once('error', reject).end(String(new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' })))
    })
  }

  async function openSockets(count: number): Promise<Socket[]> {
    const port = Number(new URL(service.url).port)
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return sockets
  }

  test('warns of it at the start', () => {
    expect(service.output()).toContain('warning: This process may open only 256 files and connections')
  })

  test('answers those who are connected while all connections are in use, and everyone afterwards', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    // A connection that waits for another request may be closed, but not this one, which sends the next one at once.
    const sockets = await openSockets(CONNECTIONS + 100)
    const begun = sockets[0] as Socket
    begun.write(`POST /v1/mfa HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${API_KEY}\r\n`)
    await eventually(() => expect(service.log()).toContain('connections.refused'))
    await expect(send(false)).rejects.toMatchObject({ code: 'ECONNRESET' })
    // The service still has files for ten connections to the database.
    const body = String(new URLSearchParams({ User: freshEmail().email, Type: 'EMAIL' }))
    begun.write(
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [answer] = await once(begun, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
    expect(service.log().match(/connections\.refused/g)).toHaveLength(1)
    for (const socket of sockets) socket.destroy()
    await eventually(async () => expect(await send(false).catch(() => 0)).toBe(200))
    expect(await Promise.all(Array.from({ length: 50 }, () => send(false)))).toEqual(Array(50).fill(200))
  })

  test('closes connections that wait for another request when new ones come', async () => {
    const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true }))
    onTestFinished(() => {
      for (const agent of agents) agent.destroy()
    })
    for (let from = 0; from < agents.length; from += 32) {
      const some = agents.slice(from, from + 32).map((agent) => send(agent))
      expect(new Set(await Promise.all(some))).toEqual(new Set([200]))
    }
    for (let count = 0; count < 20; count++) expect(await send(false)).toBe(200)
  })
})
