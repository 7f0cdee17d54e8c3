import { createServer } from 'node:http'
import { createService } from '@countersign/service'
import { deepgram } from './deepgram.js'

const { PORT = '4000', SERVICE_SECRET, SERVICE_API_KEY, DEEPGRAM_API_KEY } = process.env
const { DEEPGRAM_URL = 'https://api.deepgram.com/v1/listen' } = process.env

const service = await createService({
  secret: SERVICE_SECRET,
  apiKey: SERVICE_API_KEY,
  dataDir: '.data',
  delivery: 'inbox',
  transcriber: deepgram({ url: DEEPGRAM_URL, apiKey: DEEPGRAM_API_KEY }),
  transcriberConcurrency: 16,
})

const server = createServer(service.api)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listens on http://127.0.0.1:${server.address().port}`)
})
