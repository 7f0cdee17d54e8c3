import { setImmediate as turn } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpTransport } from '../../src/client/http-transport.js'
import { type HttpService, httpService } from '../../src/client/service.js'
import { ServiceError } from '../../src/errors.js'
import { readOptions, readServiceAddress } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { signal } from '../kit/signal.js'
import { timesPassed } from '../kit/times-passed.js'
import { API_KEY, BOBS_CODE, clientFor, pair } from './ask.js'
import { answer, type Behaviour, hostileService, raw } from './hostile-service.js'

const { contact } = BOBS_CODE
const page = { 'Content-Type': 'text/html' }

const verbs: Record<string, (client: HttpService) => Promise<unknown>> = {
  send: (client) => client.send({ method: 'sms', contact }),
  sendBackupCodes: (client) => client.sendBackupCodes({ method: 'sms', contact }),
}

/** The possible effect of a failed call; anything but a `ServiceError` is a bug and is thrown on. */
async function effectOf(call: Promise<unknown>): Promise<string> {
  try {
    return `answered ${JSON.stringify(await call)}`
  } catch (error) {
    if (error instanceof ServiceError) return error.effect
    throw error
  }
}

const unsure: readonly [string, Behaviour][] = [
  ['never answers', () => {}],
  ['begins to answer and stops', (response) => response.writeHead(200).flushHeaders()],
  ['hangs up instead of answering', raw('')],
  ['resets the connection instead of answering', (response) => void response.socket?.resetAndDestroy()],
  ['answers by half', raw('HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{"status":"sent"}')],
  ['answers something that is not HTTP', raw('220 mail.example.com ESMTP\r\n')],
  ['answers a page', answer(200, '<h1>Sent</h1>', page)],
  ['answers a redirect', answer(303, '', { Location: '/done' })],
  ['is a gateway that waited in vain', answer(504)],
  ['is a gateway that was answered nonsense', answer(502, '<h1>Bad gateway</h1>', page)],
  ['is a network that waited in vain, in its own words', answer(524, '<h1>A timeout occurred</h1>', page)],
  ['does the same for an earlier copy of the request', answer(409, { code: 'idempotency_key_in_flight' })],
]

const sure: readonly [string, Behaviour][] = [
  ['says that it failed', answer(500, 'oops')],
  ['says so in words of its own', answer(500, { code: 'internal_error' })],
  ['says that it cannot work just now', answer(503, {}, { 'Retry-After': '5' })],
  ['has no such verb', answer(501)],
  ['refuses the key', answer(401)],
  ['does not understand', answer(400, { message: 'bad' })],
  ['was not sent the whole request in time', answer(408)],
  ['says no with status 200', answer(200, { success: false })],
  ['tells an error with status 200', answer(200, { error: 'quota' })],
]

describe.each(Object.entries(verbs))('what a failed %s did (R43, R77)', (_verb, ask) => {
  it('is unknown when the service may have done the work', () =>
    everyCase(unsure, async ([_title, behaviour]) => {
      const { client, service } = await pair(behaviour, { timeout: 1_000 })
      expect(await effectOf(ask(client))).toBe('unknown')
      expect(service.calls).toHaveLength(1)
    }))

  it('is none when the service certainly did nothing', () =>
    everyCase(sure, async ([_title, behaviour]) => {
      const { client } = await pair(behaviour)
      expect(await effectOf(ask(client))).toBe('none')
    }))

  it('is none when the service is not running', async () => {
    const { url, close } = await hostileService(() => {})
    await close()
    expect(await effectOf(ask(clientFor({ baseUrl: url, apiKey: API_KEY })))).toBe('none')
  })

  it('is none when no connection was established in time', async () => {
    // As behind a firewall that drops every packet: a connection that is never made, nor refused.
    const dispatcher = new Agent({ connect: () => {} })
    onTestFinished(() => dispatcher.destroy())
    const address = { baseUrl: 'https://mfa.example.com', apiKey: API_KEY, timeout: 200 }
    const { service } = readOptions({ service: address, factors: () => [] })
    if (!('baseUrl' in service)) throw new Error('expected an address')
    const client = httpService(service, {}, httpTransport(service, dispatcher))
    const rung = timesPassed(150, 800)
    expect(await effectOf(ask(client))).toBe('none')
    expect(rung).toEqual([150])
  })

  it('is none when no connection was established in the time for that, which is part of that of a call', async () => {
    const timeout = Object.assign(new Error('slow'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
    const dispatcher = new Agent({ connect: (_options, done) => done(timeout, null) })
    onTestFinished(() => dispatcher.destroy())
    const settings = readServiceAddress({ baseUrl: 'https://mfa.example.com', apiKey: API_KEY })
    const failed = httpTransport(settings, dispatcher).post('/long', {}, { timeoutMs: 60_000 })
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_MFA_SERVICE_TIMEOUT',
      effect: 'none',
      cause: { code: 'UND_ERR_CONNECT_TIMEOUT' },
    })
  })

  it('is none when the request only waited for a free socket, and it is never sent later', async () => {
    const { client, service, longer } = await busy()
    expect(await effectOf(ask(client))).toBe('none')
    expect(await longer).toBe('unknown')
    expect(await effectOf(ask(client))).toBe('unknown')
    expect(service.calls.map(({ path }) => path)).toEqual(['/longer', expect.any(String)])
  })
})

it('a call ends within its own time limit, even while a longer one uses the only socket (R76)', async () => {
  const { client, longer } = await busy()
  const rung = timesPassed(150, 800)
  await expect(client.verify(BOBS_CODE)).rejects.toMatchObject({
    code: 'ERR_MFA_SERVICE_TIMEOUT',
    cause: { name: 'TimeoutError' },
  })
  expect(rung).toEqual([150])
  expect(await longer).toBe('unknown')
})

it('a call that is aborted while it waits for the only socket is never sent, and ends with the reason', async () => {
  const { transport, service, longer } = await busy()
  const aborting = new AbortController()
  const aborted = transport.post('/aborted', {}, { signal: aborting.signal, timeoutMs: 60_000 })
  await turn()
  aborting.abort(new Error('no longer wanted'))
  await expect(aborted).rejects.toThrow('no longer wanted')
  expect(await longer).toBe('unknown')
  expect(await effectOf(transport.post('/next', {}))).toBe('unknown')
  expect(service.calls.map(({ path }) => path)).toEqual(['/longer', '/next'])
})

/** A client whose only socket waits a second for a service that never answers. */
async function busy() {
  const reached = signal()
  const service = await hostileService(reached.give)
  const dispatcher = new Agent({ connections: 1, pipelining: 1 })
  onTestFinished(() => dispatcher.destroy())
  const settings = readServiceAddress({
    baseUrl: service.url,
    apiKey: API_KEY,
    dialect: 'published',
    timeout: 200,
  })
  const transport = httpTransport(settings, dispatcher)
  const client = httpService(settings, {}, transport)
  const longer = effectOf(transport.post('/longer', {}, { timeoutMs: 1_000 }))
  await reached.given
  return { client, transport, service, longer }
}
