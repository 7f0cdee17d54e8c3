import { streamWire } from 'countersign/speech'
import * as z from 'zod'

/** How a message that the service sends or reads is described. */
const SUMMARIES: Readonly<Record<string, string>> = {
  end: 'There is no more audio. Nothing may follow.',
  keepalive: 'There is no audio at the moment, but the stream goes on.',
  ready: 'The engine is ready.',
  partial: 'What was heard since the last `final`. The next `partial` or `final` replaces it.',
  final: 'Text that no longer changes, and its position in the audio in milliseconds.',
  error: 'Why the stream ends early. The connection closes next.',
}

const AUDIO = {
  name: 'audio',
  summary: `PCM with ${streamWire.STREAM_SAMPLE_RATE} samples per second, 16 bits, little-endian, one channel, in binary frames of whole samples.`,
  contentType: 'application/octet-stream',
  payload: { type: 'string', format: 'binary', minLength: 2, maxLength: streamWire.MAX_FRAME_BYTES },
}

const REQUESTS = createMessages(streamWire.streamRequest.options)
const RESPONSES = createMessages(streamWire.streamMessage.options)

/** The protocol of transcription streams as an AsyncAPI 3.0 document. `publicUrl` is the address of the service. */
export function streamDocument(publicUrl: string | undefined) {
  const channel = { $ref: '#/channels/stream' }
  const reference = (name: string) => ({ $ref: `#/channels/stream/messages/${name}` })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Countersign: realtime transcription',
      version: '1',
      description:
        'A WebSocket that turns speech into text while it is being spoken. `send` and `receive` are those of the service. A refusal before the connection becomes a WebSocket is an HTTP response, which the OpenAPI document describes.',
    },
    defaultContentType: 'application/json',
    ...(publicUrl !== undefined && { servers: { service: createServer(publicUrl) } }),
    channels: {
      stream: {
        address: streamWire.STREAM_PATH,
        description: `The subprotocol is \`${streamWire.STREAM_PROTOCOL}\`. The connection closes with 1000 after the last text, and with 1008, 1009, 1011 or 1013 if the stream ends early.`,
        messages: { audio: AUDIO, ...REQUESTS, ...RESPONSES },
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                language: jsonSchema(streamWire.streamLanguage),
                ticket: { type: 'string', description: 'A ticket instead of the API key, for browsers.' },
              },
            },
            headers: {
              type: 'object',
              properties: { 'Sec-WebSocket-Protocol': { type: 'string', const: streamWire.STREAM_PROTOCOL } },
              required: ['Sec-WebSocket-Protocol'],
            },
            bindingVersion: '0.1.0',
          },
        },
      },
    },
    operations: {
      hear: { action: 'receive', channel, messages: ['audio', ...Object.keys(REQUESTS)].map(reference) },
      transcribe: { action: 'send', channel, messages: Object.keys(RESPONSES).map(reference) },
    },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
    },
  }
}

/** The document as text, as it is committed and served. */
export function streamDocumentText(publicUrl: string | undefined): string {
  return `${JSON.stringify(streamDocument(publicUrl), null, 2)}\n`
}

function createServer(publicUrl: string) {
  const { host, pathname, protocol } = new URL(publicUrl)
  return {
    host,
    ...(pathname !== '/' && { pathname }),
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    security: [{ $ref: '#/components/securitySchemes/apiKey' }],
  }
}

function createMessages(schemas: readonly z.ZodObject<{ readonly type: z.ZodLiteral<string> }>[]) {
  return Object.fromEntries(
    schemas.map((schema) => {
      const name = schema.shape.type.value
      return [name, { name, summary: SUMMARIES[name] ?? name, payload: jsonSchema(schema) }]
    }),
  )
}

function jsonSchema(schema: z.ZodType) {
  // AsyncAPI has its own dialect of JSON Schema, a superset of draft 7.
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' })
  return described
}
