import type { streamWire } from 'countersign/speech'
import { WebSocket } from 'ws'
import { API_KEY, eventually } from './kit.js'

/** How a test opens a stream. */
export interface StreamTarget {
  readonly url: string
  readonly headers?: Record<string, string>
  readonly query?: Record<string, string>
  readonly protocols?: string[]
  readonly path?: string
}

/** A stream that a test has opened, or tried to. */
export interface TestStream {
  readonly socket: WebSocket
  readonly messages: streamWire.StreamMessage[]
  /** The texts of the messages of one type. */
  texts(type: 'partial' | 'final'): string[]
  /** The status, some headers and the body of a refusal. */
  readonly refused: Promise<{
    readonly status: number
    readonly retryAfter: string | undefined
    readonly requestId: unknown
    readonly body: unknown
  }>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  until(type: streamWire.StreamMessage['type']): Promise<void>
  end(): void
}

/** Opens a stream with the library `ws`, without our own client. */
export function openTestStream(target: StreamTarget): TestStream {
  const {
    url,
    headers = { authorization: `Bearer ${API_KEY}` },
    query = {},
    protocols = ['transcribe.v1'],
  } = target
  const address = new URL(target.path ?? '/v1/transcribe/stream', url.replace('http', 'ws'))
  address.search = new URLSearchParams(query).toString()
  const socket = new WebSocket(address, protocols, { headers })
  const messages: streamWire.StreamMessage[] = []
  socket.on('error', () => {})
  socket.on('message', (data) => void messages.push(JSON.parse(String(data))))
  const refused = new Promise<Awaited<TestStream['refused']>>((resolve) => {
    socket.once('unexpected-response', async (_request, response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({
        status: response.statusCode ?? 0,
        retryAfter: response.headers['retry-after'],
        requestId: response.headers['x-request-id'],
        body: text.startsWith('{') ? JSON.parse(text) : text,
      })
      socket.terminate()
    })
  })
  const closed = new Promise<Awaited<TestStream['closed']>>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  return {
    socket,
    messages,
    texts: (type) => messages.flatMap((message) => (message.type === type ? [message.text] : [])),
    refused,
    closed,
    until: (type) =>
      eventually(() => {
        if (!messages.some((message) => message.type === type)) throw new Error(`no ${type} yet`)
      }),
    end: () => socket.send('{"type":"end"}'),
  }
}
