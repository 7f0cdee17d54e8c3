import { connect, type Socket } from 'node:net'
import { API_KEY } from '../kit.js'

/** How many connections are opened at once; more would not fit into the queue of the server. */
const BATCH = 100

/** One request of a flood. */
interface Answer {
  readonly status: number
  readonly code: string
  readonly retryAfter: string
}

/** A flood of requests, each on a connection of its own. */
export interface Flood {
  /** The answers so far. */
  readonly answers: readonly Answer[]
  /** Resolves when every request was answered. */
  readonly done: Promise<unknown>
}

/** Sends requests at the same time, with as little work for this process as possible. */
export async function flood(
  port: number,
  path: string,
  requests: readonly Readonly<Record<string, string>>[],
): Promise<Flood> {
  const sockets: Socket[] = []
  while (sockets.length < requests.length) {
    const count = Math.min(BATCH, requests.length - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => opened(port)))))
  }
  const answers: Answer[] = []
  const done = Promise.all(
    sockets.map(async (socket, nr) => void answers.push(await answerOn(socket, path, requests[nr] ?? {}))),
  )
  return { answers, done }
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).once('error', reject)
  })
}

function answerOn(
  socket: Socket,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = JSON.stringify(parameters)
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${API_KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.once('error', reject).once('end', () => {
      const [, status = '0'] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? []
      const [, retryAfter = ''] = /^retry-after: (\d+)/im.exec(text) ?? []
      const [, code = ''] = /"code":"(\w+)"/.exec(text) ?? []
      resolve({ status: Number(status), code, retryAfter })
    })
  })
}
