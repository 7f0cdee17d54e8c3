import { createServer } from 'node:http'
import { createService } from '@countersign/service'
import { expect, it, onTestFinished } from 'vitest'
import { webhookReceiver } from '../../service/test/delivery/webhook-receiver.js'
import { host, jsonAgent } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { challenge, login } from '../kit/sign-in.js'

const API_KEY = 'key_of_the_service_with_request_ids'
const WEBHOOK_SECRET = 'a secret for the webhook with request ids'

/** An app, its service with a log, and the receiver of its messages. */
async function start() {
  const receiver = await webhookReceiver(WEBHOOK_SECRET)
  const events: { readonly event: string; readonly request?: string }[] = []
  const service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for requests with ids, long enough',
    apiKey: API_KEY,
    transcriber: 'off',
    delivery: `${receiver.url}/messages`,
    webhookSecret: WEBHOOK_SECRET,
    logger: (event) => void events.push(event),
  })
  const server = createServer(service.api)
  const baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await service.close()
    await receiver.close()
  })
  const { app } = host({ options: { service: { baseUrl, apiKey: API_KEY } } })
  const agent = jsonAgent(app)
  await login(agent, 'bob').expect(200)
  events.length = 0
  const idsOf = (name: string) => events.filter(({ event }) => event === name).map(({ request }) => request)
  return { agent, receiver, idsOf }
}

it('goes from the browser through app and service to the carrier', async () => {
  const { agent, receiver, idsOf } = await start()
  const answer = await challenge(agent, 'sms').set('X-Request-Id', 'browser-7').expect(200)
  expect(answer.headers['x-request-id']).toBe('browser-7')
  for (const event of ['http.request', 'send.sent', 'delivery.sent'])
    expect([event, new Set(idsOf(event))]).toEqual([event, new Set(['browser-7'])])
  expect(receiver.requests.at(-1)?.headers['x-request-id']).toBe('browser-7')
})

it('is a new one for each request without a valid one', async () => {
  const { agent, idsOf } = await start()
  const answer = await challenge(agent, 'sms').set('X-Request-Id', 'not valid\u00e9').expect(200)
  const id = answer.headers['x-request-id']
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(idsOf('delivery.sent')).toEqual([id])
})
