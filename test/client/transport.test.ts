import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { httpTransport } from '../../src/client/http-transport.js'
import { readServiceAddress } from '../../src/options/settings.js'
import { stopTimers } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { freePort } from '../kit/loopback.js'
import { timesPassed } from '../kit/times-passed.js'
import { API_KEY, BOBS_CODE, clientFor, pair, verdict } from './ask.js'
import { answer, type Behaviour, hostileService, raw } from './hostile-service.js'

const FAULT = 'ERR_MFA_SERVICE_ANSWER'
const DOWN = 'ERR_MFA_SERVICE_UNAVAILABLE'
const TIMEOUT = 'ERR_MFA_SERVICE_TIMEOUT'

describe.each([301, 302, 303, 307, 308])('a redirect with status %i', (status) => {
  it('is not followed, and counts as a failure of the service (R74)', async () => {
    const elsewhere = await hostileService(answer(200, { valid: true, type: 'PHONE' }))
    const { client, service } = await pair(answer(status, '', { Location: `${elsewhere.url}/v1/mfa/verify` }))
    expect(await verdict(client)).toBe(FAULT)
    const sent = client.send({ method: 'sms', contact: BOBS_CODE.contact })
    await expect(sent).rejects.toMatchObject({ code: FAULT, status: 502 })
    expect(service.calls).toHaveLength(2)
    expect(elsewhere.sockets.size).toBe(0)
  })
})

describe('the time a call may take (R76)', () => {
  const slow: readonly [string, Behaviour][] = [
    ['never answers', () => {}],
    ['answers with its headers late', (response) => setTimeout(() => response.end('{}'), 5_000).unref()],
    ['sends headers and then nothing', (response) => response.writeHead(200).flushHeaders()],
    ['sends its body byte by byte', (response) => dribble(response, '{"valid":true}        ', 40)],
    ['sends its headers byte by byte', dribbleHeaders],
    ['sends one 103 after another', sendHintsForever],
  ]
  it('ends when a service does not answer completely', () =>
    everyCase(slow, async ([_title, behaviour]) => {
      const { client, service } = await pair(behaviour, { timeout: 600 })
      const rung = timesPassed(550, 2_400)
      expect(await verdict(client)).toBe(TIMEOUT)
      expect(rung).toEqual([550])
      expect(service.calls).toHaveLength(1)
    }))

  it('is at most one second for a delivery state', async () => {
    const { client } = await pair(() => {}, { timeout: 5_000, dialect: 'countersign' })
    const rung = timesPassed(950, 4_000)
    await expect(client.deliveryOf?.({ challenge: 'one' })).rejects.toMatchObject({ code: TIMEOUT })
    expect(rung).toEqual([950])
  })

  it('includes the wait for a free socket', async () => {
    const { client } = await pair(() => {}, { timeout: 200 })
    const rung = timesPassed(150, 800)
    const verdicts = await Promise.all(Array.from({ length: 80 }, () => verdict(client)))
    expect(new Set(verdicts)).toEqual(new Set([TIMEOUT]))
    expect(rung).toEqual([150])
  })

  it('is bounded by no timer once the call has ended, in whatever way', async () => {
    let behave: Behaviour = answer(200)
    const { client } = await pair((response, call) => behave(response, call))
    stopTimers()
    const counts = []
    for (let round = 0; round < 3; round++) {
      for (const [next, outcome] of [
        [answer(200), 'valid'],
        [raw(''), DOWN],
      ] as const) {
        behave = next
        expect(await verdict(client)).toBe(outcome)
      }
      // undici has one of its own.
      counts.push(vi.getTimerCount())
    }
    expect(counts).toEqual(Array(3).fill(counts[0]))
  })

  it('does not end a response that comes in time', async () => {
    const { client } = await pair((response) => dribble(response, '{"valid":true}', 5), { timeout: 2_000 })
    expect(await verdict(client)).toBe('valid')
  })
})

describe('an answer that is not whole (R75, R80)', () => {
  const big = `{"valid":true,"filler":"${'x'.repeat(64 * 1024)}"}`
  const broken: readonly [string, Behaviour, string][] = [
    ['is cut short', raw('HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{"valid":true}'), FAULT],
    ['is cut short in a chunk', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}'), FAULT],
    [
      'ends without its last chunk',
      raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'),
      FAULT,
    ],
    ['is reset in its body', resetInBody, FAULT],
    ['has more than 64 KB', answer(200, big), FAULT],
    ['has more than 64 KB in chunks', (response) => void response.writeHead(200).end(big), FAULT],
    [
      'announces more than 64 KB',
      raw('HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n{"valid":true}'),
      FAULT,
    ],
    ['never ends', endless, FAULT],
    ['is not HTTP', raw('220 mail.example.com ESMTP\r\n'), FAULT],
    ['is a stream of events', answer(200, 'data: {}\n\n', { 'Content-Type': 'text/event-stream' }), FAULT],
    ['has headers without end', raw(`HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(100_000)}\r\n\r\n`), FAULT],
    ['has two lengths', raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'), FAULT],
    [
      'switches protocols',
      raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      DOWN,
    ],
    ['never begins', raw(''), DOWN],
    ['is reset before it begins', (response) => void response.socket?.resetAndDestroy(), DOWN],
  ]
  it('is an error when it is too large or cut', () =>
    everyCase(broken, async ([_title, behaviour, expected]) => {
      const { client, service } = await pair(behaviour)
      expect(await verdict(client)).toBe(expected)
      expect(service.calls).toHaveLength(1)
    }))

  it('is an error that names its cause', async () => {
    const { client } = await pair(answer(200, big))
    const code = 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
    await expect(client.verify(BOBS_CODE)).rejects.toMatchObject({
      message: expect.stringContaining(`not HTTP (${code}). Check`),
      cause: { code },
    })
  })

  it('is read when it has just under 64 KB', async () => {
    const { client } = await pair(answer(200, `{"valid":true,"filler":"${'x'.repeat(65_000)}"}`))
    expect(await verdict(client)).toBe('valid')
  })
})

describe('a service that is not there (R77)', () => {
  it('is an error without a code in its text where the cause has none', async () => {
    const dispatcher = new Agent({ connect: (_options, done) => done(new Error('odd'), null) })
    onTestFinished(() => dispatcher.destroy())
    const settings = readServiceAddress({ baseUrl: 'https://mfa.example.com', apiKey: API_KEY })
    await expect(httpTransport(settings, dispatcher).post('/any', {})).rejects.toMatchObject({
      code: DOWN,
      message: expect.stringContaining('could not be reached. Check'),
      cause: { name: 'Error', message: 'odd' },
    })
  })

  it('is distinguished from a refusal', async () => {
    const client = clientFor({ baseUrl: await closedPort(), apiKey: API_KEY })
    expect(await verdict(client)).toBe(DOWN)
  })

  it('is used as soon as it is back', async () => {
    const gone: Behaviour = (response) => void response.socket?.destroy()
    let behave = gone
    const { client } = await pair((response, call) => behave(response, call))
    expect(await verdict(client)).toBe(DOWN)
    behave = answer(200)
    expect(await verdict(client)).toBe('valid')
  })
})

it('sends a request once and never repeats it, even when a kept-alive connection breaks (R76)', async () => {
  let asked = 0
  const behave: Behaviour = (response, call) => {
    asked += 1
    if (asked === 1) answer(200)(response, call)
    else response.socket?.destroy()
  }
  const { client, service } = await pair(behave)
  expect(await verdict(client)).toBe('valid')
  // The socket of the first response is free for the next request a moment after it.
  await wait(10)
  expect(await verdict(client)).toBe(DOWN)
  expect(service.calls).toHaveLength(2)
  expect(service.sockets.size).toBe(1)
})

it('opens at most 64 sockets, with one request at a time on each (R76)', async () => {
  let busy = 0
  let busiest = 0
  const { client, service } = await pair((response) => {
    busy += 1
    busiest = Math.max(busiest, busy)
    setTimeout(() => {
      busy -= 1
      response.end('{}')
    }, 500)
  })
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => verdict(client)))
  expect(new Set(verdicts)).toEqual(new Set(['valid']))
  expect(service.calls).toHaveLength(100)
  expect(busiest).toBe(64)
  expect(service.sockets.size).toBe(64)
})

function dribble(response: ServerResponse, text: string, everyMs: number): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  let at = 0
  const timer = setInterval(() => {
    if (at < text.length && !response.destroyed) response.write(text.charAt(at++))
    else {
      clearInterval(timer)
      response.end()
    }
  }, everyMs)
}

function dribbleHeaders(response: ServerResponse): void {
  const bytes = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Slow: aaaaaaaaaaaaaaaaaaaa\r\n\r\n'
  let at = 0
  const timer = setInterval(() => {
    if (response.socket?.writable && at < bytes.length) response.socket.write(bytes.charAt(at++))
    else clearInterval(timer)
  }, 20)
}

function sendHintsForever(response: ServerResponse): void {
  const timer = setInterval(() => {
    if (response.socket?.writable) response.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')
    else clearInterval(timer)
  }, 20)
}

function resetInBody(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Length': '100' })
  response.write('{"valid":true', () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
}

function endless(response: ServerResponse): void {
  response.writeHead(200)
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(16_384)));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

const closedPort = async () => `http://127.0.0.1:${await freePort()}`
