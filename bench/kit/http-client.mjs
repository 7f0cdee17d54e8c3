import { connect } from 'node:net'

/** A request as bytes, with the headers that a browser sends which matter to an app. */
export function requestBytes(
  port,
  { method = 'GET', path, cookie, accept = 'application/json', body, headers = {} },
) {
  const host = `127.0.0.1:${port}`
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Accept: ${accept}`, ...COMMON]
  if (cookie) lines.push(`Cookie: ${cookie}`)
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (body === undefined) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  const json = JSON.stringify(body)
  lines.push(
    `Origin: http://${host}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
  )
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${json}`)
}

const COMMON = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
  'Accept-Language: en-GB,en;q=0.7',
  'Connection: keep-alive',
]

/**
 * A connection that sends one request after the other. `send` resolves with `{ status, head, body }`, or rejects when the
 * server closes the connection first.
 */
export async function openConnection(port) {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  let received = Buffer.alloc(0)
  let waiting
  const fail = (error) => {
    waiting?.reject(error)
    waiting = undefined
  }
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const response = readResponse(received)
    if (!response) return
    received = Buffer.alloc(0)
    const { resolve } = waiting
    waiting = undefined
    resolve(response)
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server closed the connection.')))
  return {
    send(bytes) {
      return new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('The server closed the connection.'))
        waiting = { resolve, reject }
        socket.write(bytes)
      })
    },
    isOpen: () => !socket.destroyed && socket.readyState === 'open',
    close: () => socket.destroy(),
  }
}

/** Connections to a server, as many as there are requests at the same time. They are kept for later ones. */
export function connectionsTo(port) {
  const idle = []
  return {
    /** Sends a request; rejects when there is no response in time. */
    async send(bytes, timeoutMs) {
      let connection
      let timer
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('There was no response in time.')), timeoutMs)
      })
      try {
        do connection = idle.pop()
        while (connection && !connection.isOpen())
        connection ??= await Promise.race([openConnection(port), late])
        const response = await Promise.race([connection.send(bytes), late])
        idle.push(connection)
        return response
      } catch (error) {
        connection?.close()
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      for (const connection of idle) connection.close()
    },
  }
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** The response in these bytes, or `undefined` while some of it is missing. */
function readResponse(bytes) {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.latin1Slice(0, headEnd)
  const status = Number(head.slice(9, 12))
  const bodyStart = headEnd + HEAD_END.length
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length) {
    const end = bodyStart + Number(length[1])
    return bytes.length < end ? undefined : { status, head, body: bytes.utf8Slice(bodyStart, end) }
  }
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return { status, head, body: '' }
  const isWhole = bytes.indexOf(LAST_CHUNK, headEnd + 2) >= 0
  return isWhole ? { status, head, body: joinChunks(bytes.subarray(bodyStart)) } : undefined
}

function joinChunks(bytes) {
  const parts = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.latin1Slice(at, lineEnd), 16)
    if (size === 0) return Buffer.concat(parts).toString()
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
