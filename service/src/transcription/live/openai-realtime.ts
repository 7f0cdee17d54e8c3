import { streamWire } from 'countersign/speech'
import * as z from 'zod'
import { EngineError } from '../engines/transcriber.js'
import { type EngineSocket, openEngineSocket } from './engine-socket.js'
import type { EngineStream, LiveTranscriber, StreamRequest } from './live-transcription.js'
import { to24kHz } from './pocketsphinx-live.js'

/** A server with OpenAI's realtime API. */
export interface OpenAiRealtimeSettings {
  /** The address, with `intent=transcription` or what else the server asks for. */
  readonly url: string
  readonly model: string
  readonly apiKey: string | undefined
}

const item = z.object({ item_id: z.string() })
const eventSchema = z.discriminatedUnion('type', [
  item.extend({
    type: z.literal('input_audio_buffer.speech_started'),
    audio_start_ms: z.number().int().nonnegative(),
  }),
  item.extend({
    type: z.literal('input_audio_buffer.speech_stopped'),
    audio_end_ms: z.number().int().nonnegative(),
  }),
  item.extend({ type: z.literal('input_audio_buffer.committed') }),
  item.extend({ type: z.literal('conversation.item.input_audio_transcription.delta'), delta: z.string() }),
  item.extend({
    type: z.literal('conversation.item.input_audio_transcription.completed'),
    transcript: z.string(),
  }),
  item.extend({ type: z.literal('conversation.item.input_audio_transcription.failed') }),
  z.object({ type: z.literal('error'), error: z.object({ code: z.string().nullish() }) }),
])
type Event = z.output<typeof eventSchema>

/** The error of a commit when everything was committed before; then there is nothing left to transcribe. */
const NOTHING_LEFT = 'input_audio_buffer_commit_empty'

/** A server with OpenAI's realtime API, which takes PCM with 24 kHz and finds the pauses itself. */
export function openAiRealtime(settings: OpenAiRealtimeSettings): LiveTranscriber {
  return { name: new URL(settings.url).host, open: (request) => openSession(settings, request) }
}

async function openSession(
  { url, model, apiKey }: OpenAiRealtimeSettings,
  { language, onPiece, onFailure, signal }: StreamRequest,
): Promise<EngineStream> {
  let sentBytes = 0
  const heardMs = () => Math.round((sentBytes / streamWire.STREAM_BYTES_PER_SECOND) * 1_000)
  let isDone = false
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = () => {
      isDone = true
      resolve()
    }
  })
  const fail = (error: EngineError) => {
    if (isDone) return
    onFailure(error)
    finish()
  }
  const speech = speechItems(onPiece, heardMs)

  const socket: EngineSocket = await openEngineSocket({
    url,
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    signal,
    onMessage(message) {
      const event = eventSchema.safeParse(message)
      // The API has many more events, which do not concern the transcript.
      if (!event.success) return
      if (event.data.type === 'error') {
        if (event.data.error.code === NOTHING_LEFT) speech.endCommitted()
        else fail(new EngineError('engine_failed', 'The transcription server reported an error.'))
      } else if (event.data.type === 'conversation.item.input_audio_transcription.failed') {
        fail(new EngineError('engine_failed', 'The transcription server could not transcribe.'))
      } else speech.handle(event.data)
      if (speech.isComplete()) finish()
    },
    onClose: () =>
      fail(new EngineError('engine_unavailable', 'The transcription server closed the connection.')),
  })
  const sendEvent = (event: object) => socket.send(JSON.stringify(event))
  await sendEvent({
    type: 'session.update',
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model, ...(language && { language }) },
          turn_detection: { type: 'server_vad' },
        },
      },
    },
  })
  const resample = to24kHz()
  return {
    write(pcm) {
      sentBytes += pcm.length
      return sendEvent({ type: 'input_audio_buffer.append', audio: resample(pcm).toString('base64') })
    },
    async end() {
      speech.expectLastCommit()
      await sendEvent({ type: 'input_audio_buffer.commit' })
      await finished
    },
  }
}

type SpeechEvent = Exclude<Event, { type: 'error' | 'conversation.item.input_audio_transcription.failed' }>

/** The parts of the speech that the server has told us about, and whether all of them are transcribed. */
function speechItems(onPiece: StreamRequest['onPiece'], heardMs: () => number) {
  const items = new Map<string, { startMs: number; endMs: number | undefined; text: string }>()
  const pending = new Set<string>()
  let lastEndMs = 0
  let awaitsCommit = false
  let isEnding = false

  const findItem = (id: string) => {
    const known = items.get(id) ?? { startMs: lastEndMs, endMs: undefined, text: '' }
    items.set(id, known)
    return known
  }

  return {
    expectLastCommit() {
      isEnding = true
      awaitsCommit = true
    },
    endCommitted() {
      awaitsCommit = false
    },
    isComplete: () => isEnding && !awaitsCommit && pending.size === 0,
    handle(event: SpeechEvent) {
      const known = findItem(event.item_id)
      if (event.type === 'input_audio_buffer.speech_started') known.startMs = event.audio_start_ms
      else if (event.type === 'input_audio_buffer.speech_stopped') known.endMs = event.audio_end_ms
      else if (event.type === 'input_audio_buffer.committed') {
        pending.add(event.item_id)
        awaitsCommit = false
      } else if (event.type === 'conversation.item.input_audio_transcription.delta') {
        known.text += event.delta
        if (known.text.trim()) onPiece({ type: 'partial', text: known.text.trim() })
      } else {
        pending.delete(event.item_id)
        items.delete(event.item_id)
        const { startMs, endMs = Math.max(heardMs(), startMs) } = known
        lastEndMs = endMs
        const text = event.transcript.trim()
        if (text) onPiece({ type: 'final', text, startMs, endMs: Math.max(startMs, endMs) })
      }
    },
  }
}
