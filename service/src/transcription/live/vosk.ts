import { streamWire } from 'countersign/protocol'
import * as z from 'zod'
import { EngineError } from '../engines/transcriber.js'
import { type EngineSocket, openEngineSocket } from './engine-socket.js'
import type { EngineStream, LiveEngine, StreamRequest } from './live-transcription.js'

// A partial result has `partial`; a final one has `text`, and `result` if words were recognized.
const partialSchema = z.object({ partial: z.string() })
const finalSchema = z.object({
  text: z.string(),
  result: z.array(z.object({ start: z.number().nonnegative(), end: z.number().nonnegative() })).optional(),
})
/** What the server compares with its own text, so it must be exactly this. */
const END = '{"eof" : 1}'

/** A Vosk server, which has one language. */
export function vosk({ url }: { readonly url: string }): LiveEngine {
  return { name: new URL(url).host, open: (request) => openVosk(url, request) }
}

async function openVosk(url: string, request: StreamRequest): Promise<EngineStream> {
  const { onPiece, onFailure, signal } = request
  let sentBytes = 0
  let lastEndMs = 0
  let isEnding = false
  let isDone = false
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const fail = (error: EngineError) => {
    if (isDone) return
    isDone = true
    onFailure(error)
    finish()
  }

  const socket: EngineSocket = await openEngineSocket({
    url,
    signal,
    onMessage(message) {
      const partial = partialSchema.safeParse(message)
      if (partial.success) {
        if (partial.data.partial) onPiece({ type: 'partial', text: partial.data.partial })
        return
      }
      const final = finalSchema.safeParse(message)
      if (!final.success) {
        return fail(new EngineError('engine_failed', 'The transcription server sent an invalid message.'))
      }
      const { text, result = [] } = final.data
      const heardMs = Math.round((sentBytes / streamWire.STREAM_BYTES_PER_SECOND) * 1_000)
      const startMs = Math.round((result[0]?.start ?? lastEndMs / 1_000) * 1_000)
      const endMs = Math.max(startMs, Math.round((result.at(-1)?.end ?? heardMs / 1_000) * 1_000))
      lastEndMs = endMs
      if (text) onPiece({ type: 'final', text, startMs, endMs })
    },
    onClose() {
      // The server closes the connection after the last result.
      if (isEnding) {
        isDone = true
        finish()
      } else fail(new EngineError('engine_unavailable', 'The transcription server closed the connection.'))
    },
  })
  await socket.send(JSON.stringify({ config: { sample_rate: streamWire.STREAM_SAMPLE_RATE, words: true } }))
  return {
    write(pcm) {
      sentBytes += pcm.length
      return socket.send(pcm)
    },
    async end() {
      isEnding = true
      await socket.send(END)
      await finished
    },
  }
}
