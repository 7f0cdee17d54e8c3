import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { httpService } from '../../src/client/service.js'
import type { ServiceAddress } from '../../src/options/service.js'
import { readServiceAddress } from '../../src/options/settings.js'
import { createSpeechClient } from '../../src/speech/index.js'
import { RELYING_PARTY } from './keys.js'
import { describeMfaService } from './mfa-service.js'
import { newUser } from './new-user.js'
import { describeTranscription } from './transcription.js'

const API_KEY = 'key_of_the_contract_0123456789'
let running: CountersignService
let server: Server

beforeAll(async () => {
  running = await createService({
    dataDir: 'memory://',
    secret: 'a secret for the contract, long enough',
    apiKey: API_KEY,
    applicationName: 'Contract',
    transcriber: 'off',
    delivery: { email: 'inbox', sms: 'inbox' },
    relyingParty: RELYING_PARTY,
  })
  server = createServer(running.api).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await running.close()
})

const inbox = async (to: string) => ((await running.inbox?.messages({ to })) ?? []).map(({ text }) => text)

/** The additions of our own dialect in JSON. */
const inJson = { contentType: 'json', extras: true, validWhen: 'body' } as const

function addressOf(dialect: ServiceAddress['dialect'], apiKey = API_KEY) {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { baseUrl: `http://127.0.0.1:${port}`, apiKey, dialect }
}

const overHttp = (...address: Parameters<typeof addressOf>) =>
  httpService(readServiceAddress(addressOf(...address)))

describeMfaService('the service in process', {
  hasExtras: true,
  hasKeys: true,
  open: async () => ({ service: running.mfa, inbox, close: async () => {} }),
})
describeTranscription('the service in process', () => ({ transcribe: running.mfa.transcribe }))

for (const [name, dialect] of Object.entries({
  countersign: 'countersign',
  published: 'published',
  inJson,
  detected: undefined,
} as const)) {
  describeMfaService(`the service over HTTP, dialect ${name}`, {
    hasExtras: dialect !== 'published',
    hasKeys: dialect === 'countersign' || dialect === undefined,
    open: async () => {
      const service = overHttp(dialect)
      return { service, inbox, close: async () => service.close?.() }
    },
  })
  describeTranscription(`the speech client, dialect ${name}`, () => createSpeechClient(addressOf(dialect)))
}

it('a wrong API key leads to an error of its own, not to a wrong code', async () => {
  const service = overHttp('published', `${API_KEY}x`)
  const { phone } = newUser()
  const verified = service.verify({ method: 'sms', contact: phone, code: '123456', kind: 'code' })
  await expect(verified).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_KEY', status: 503 })
  await expect(service.send({ method: 'sms', contact: phone })).rejects.toMatchObject({
    code: 'ERR_MFA_SERVICE_KEY',
  })
  await service.close?.()
})
