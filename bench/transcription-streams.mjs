// Whether the memory of the service stays flat over many transcription streams. Run it with
// `node bench/transcription-streams.mjs` after `npm run build`; `--streams 10000` and `--at-once 200` change the numbers.
// The service is a process of its own with the embedded database; its engine is a stand-in for OpenAI's in this process.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { WebSocket, WebSocketServer } = createRequire(new URL('../service/package.json', import.meta.url))(
  'ws',
)

const KEY = 'key_of_the_bench_0123456789'
/** Three seconds of audio, in frames of 100 ms. */
const FRAME = Buffer.alloc(3_200)
const FRAMES = 30
/** The heap may grow by this much between a fifth of the streams and the last one: less than 5 KB for each of 1,000. */
const MAX_GROWTH_BYTES = 5 * 1024 * 1024

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '50' },
    service: { type: 'string' },
  },
})

if (values.service === undefined) await measure(Number(values.streams), Number(values['at-once']))
else await serve(values.service)

async function measure(streams, atOnce) {
  const engine = await standInEngine()
  const path = fileURLToPath(import.meta.url)
  const service = fork(path, ['--service', engine.url], { execArgv: ['--expose-gc'] })
  try {
    const [url] = await once(service, 'message')
    const rounds = 5
    const samples = []
    for (let round = 0; round < rounds; round++) {
      await transcribe(url, Math.floor(streams / rounds), atOnce)
      samples.push(await memoryOf(service))
    }
    const perRound = Math.floor(streams / rounds)
    samples.forEach(({ heap, rss, open }, index) => {
      console.log(
        `${perRound * (index + 1)} streams: heap ${mb(heap)} MB, resident ${mb(rss)} MB, ${open} sockets`,
      )
    })
    const growth = samples.at(-1).heap - samples[0].heap
    console.log(`The heap grew by ${mb(growth)} MB after the first ${perRound} streams.`)
    if (growth > MAX_GROWTH_BYTES) throw new Error('The memory of the service is not flat.')
    if (engine.open() > 0) throw new Error(`The engine still has ${engine.open()} connections.`)
  } finally {
    service.kill()
    engine.close()
  }
}

/** Transcribes this many streams, some of them at once. Every fourth caller leaves in the middle. */
async function transcribe(url, streams, atOnce) {
  let started = 0
  const next = async () => {
    while (started < streams) await oneStream(url, ++started % 4 === 0)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

async function oneStream(url, leaves) {
  const headers = { authorization: `Bearer ${KEY}` }
  const socket = new WebSocket(`${url}/v1/transcribe/stream`, ['transcribe.v1'], { headers })
  const texts = []
  socket.on('message', (data) => texts.push(JSON.parse(String(data))))
  const closed = once(socket, 'close')
  await once(socket, 'open')
  for (let frame = 0; frame < (leaves ? FRAMES / 2 : FRAMES); frame++) socket.send(FRAME)
  if (leaves) socket.terminate()
  else socket.send('{"type":"end"}')
  const [code] = await closed
  if (leaves) return
  const last = texts.at(-1)
  if (code !== 1000 || last?.type !== 'final' || last.text !== `${FRAMES} blocks`) {
    throw new Error(`A stream ended with ${code} and ${JSON.stringify(last)}.`)
  }
}

/** The memory of the service once its garbage is collected. */
async function memoryOf(service) {
  service.send('measure')
  const [sample] = await once(service, 'message')
  return sample
}

function mb(bytes) {
  return (bytes / 1024 / 1024).toFixed(1)
}

/** A server that speaks like OpenAI's, and whose text is how many blocks of audio it heard. */
async function standInEngine() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (socket) => {
    const transcription = 'conversation.item.input_audio_transcription'
    const send = (event) => socket.send(JSON.stringify({ item_id: 'speech', ...event }))
    let blocks = 0
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data))
      if (type === 'input_audio_buffer.append') {
        blocks += 1
        send({ type: `${transcription}.delta`, delta: ` ${blocks}` })
      } else if (type === 'input_audio_buffer.commit') {
        send({ type: 'input_audio_buffer.committed' })
        send({ type: `${transcription}.completed`, transcript: `${blocks} blocks` })
      }
    })
  })
  return {
    url: `openai+ws://127.0.0.1:${server.address().port}`,
    open: () => server.clients.size,
    close: () => server.close(),
  }
}

/** The service, in a process of its own. */
async function serve(liveTranscriber) {
  const { createService } = await import('../service/dist/index.js')
  const service = await createService({
    secret: 'a secret of the bench, which is long enough',
    apiKey: KEY,
    delivery: 'inbox',
    transcriber: 'off',
    liveTranscriber,
    transcriptionStreams: 1_000,
  })
  const server = createServer(service.api)
  service.attach(server)
  server.listen(0, '127.0.0.1', () => process.send(`ws://127.0.0.1:${server.address().port}`))
  process.on('message', async () => {
    // Closed sockets are released in later turns of the event loop.
    for (let turn = 0; turn < 10; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      globalThis.gc()
    }
    const { heapUsed, external, rss } = process.memoryUsage()
    const open = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    process.send({ heap: heapUsed + external, rss, open })
  })
  process.on('disconnect', () => process.exit())
}
