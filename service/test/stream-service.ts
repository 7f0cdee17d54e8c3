import { createServer } from 'node:http'
import { SCOPES } from 'countersign/protocol'
import { onTestFinished } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { attachStreams, streamAcceptor } from '../src/api/http/streams/accept-stream.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import {
  createLiveTranscription,
  type LiveTranscriber,
  type StreamRequest,
} from '../src/transcription/live/live-transcription.js'
import { apiOver } from './api-kit.js'
import { API_KEY, type Bench, freshTenant } from './kit.js'
import { openTestStream, type StreamTarget } from './stream-client.js'

const bearer = { authorization: `Bearer ${API_KEY}` }

/** An engine that repeats how many bytes it heard, or does what a test wants. */
export function fakeEngine(
  write: (request: StreamRequest, bytes: number) => Promise<void> | void = () => {},
) {
  const opened: StreamRequest[] = []
  const heard: number[] = []
  const engine: LiveTranscriber = {
    name: 'fake',
    async open(request) {
      opened.push(request)
      let bytes = 0
      return {
        async write(pcm) {
          bytes += pcm.length
          heard.push(pcm.length)
          request.onPiece({ type: 'partial', text: `${bytes} bytes` })
          await write(request, bytes)
        },
        async end() {
          request.onPiece({
            type: 'final',
            text: `${bytes} bytes`,
            startMs: 0,
            endMs: Math.round(bytes / 32),
          })
        },
      }
    },
  }
  return { engine, opened, heard }
}

/** A service with the test's own engine, which ends with the test. */
export async function serveStreams(
  bench: Bench,
  engine: LiveTranscriber | undefined,
  more: { maxStreams?: number; idleMs?: number } = {},
) {
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const { maxStreams = 2, idleMs } = more
  const live = createLiveTranscription({ engine, maxStreams, log })
  const { application } = freshTenant(bench)
  const context = { ...bench.context, live, log }
  const server = createServer(apiOver(context, application))
  let isStopping = false
  const accept = streamAcceptor({
    live,
    store: bench.store,
    findCaller: async (key) =>
      key === API_KEY ? { application, scopes: SCOPES, key: 'key-of-tests', expiresAt: null } : undefined,
    addressOf: () => '127.0.0.1',
    publicUrl: undefined,
    log,
    observeRequest: () => {},
    isStopping: () => isStopping,
    ...(idleMs !== undefined && { idleMs }),
  })
  attachStreams(server, accept)
  const port = await listenOnLoopback(server)
  const url = `http://127.0.0.1:${port}`
  onTestFinished(async () => {
    live.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url,
    port,
    server,
    live,
    events,
    mfa: inProcessService(context, async () => application),
    stop: () => {
      isStopping = true
    },
    open: (target: Omit<StreamTarget, 'url'> = {}) => openTestStream({ url, ...target }),
    ticket: async () => {
      const response = await fetch(`${url}/v1/transcribe/tickets`, { method: 'POST', headers: bearer })
      return { status: response.status, body: await response.json() }
    },
  }
}
