import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Request, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { type Admission, admissionWith } from '../../src/web/http/admission.js'
import { SECOND } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'

/** An event loop in which each task takes as long as it says, so that a test decides what the processor does, and no time passes. */
function simulatedLoop() {
  let nowMs = 0
  let busyMs = 0
  const events: { atMs: number; happen: () => void }[] = []
  const tasks: (() => number)[] = []
  return {
    clock: { nowMs: () => nowMs, busyMs: () => busyMs },
    /** Queues a task, which returns its milliseconds. */
    queue: (task: () => number) => void tasks.push(task),
    /** Lets something happen outside of the loop, after that time. */
    later(ms: number, happen: () => void) {
      const atMs = nowMs + ms
      const before = events.findLastIndex((other) => other.atMs <= atMs)
      events.splice(before + 1, 0, { atMs, happen })
    },
    run(untilMs: number) {
      while (nowMs < untilMs) {
        while (events[0] && events[0].atMs <= nowMs) events.shift()?.happen()
        const ms = tasks.shift()?.()
        if (ms === undefined) nowMs = Math.min(events[0]?.atMs ?? untilMs, untilMs)
        nowMs += ms ?? 0
        busyMs += ms ?? 0
      }
    },
  }
}

type Loop = ReturnType<typeof simulatedLoop>

const socket = new Socket()

/** Between the steps of a request, the loop serves others. */
const STEPS = 5

/** What it takes to read a request, and to answer one that is refused. */
const READING_MS = 0.05
const REFUSAL_MS = 0.15

/** Sends requests that take `costMs` each, the first one of the process `costMs(0)`, and notes when they were sent and how long they took. */
function requestsTo(loop: Loop, admission: Admission, costMs: (nth: number) => number) {
  const served: { sentMs: number; ms: number }[] = []
  const count = { sent: 0, refused: 0 }
  const send = (answered: (status: number) => void) => {
    const sentMs = loop.clock.nowMs()
    const stepMs = costMs(count.sent++) / STEPS
    const req = new IncomingMessage(socket)
    const res = new ServerResponse(req)
    const step = (nth: number) => {
      if (nth === STEPS) {
        res.emit('close')
        served.push({ sentMs, ms: loop.clock.nowMs() + stepMs - sentMs })
        answered(200)
      } else {
        loop.queue(() => step(nth + 1))
      }
      return stepMs
    }
    loop.queue(() => {
      if (admission.enter(req as Request, res as Response)) return step(1)
      const refuse = () => {
        answered(503)
        return REFUSAL_MS
      }
      const nth = count.refused++
      if (!admission.isSaturated()) return READING_MS + refuse()
      // As the handler does.
      loop.later(SECOND + ((nth * 7) % (2 * SECOND)), () => loop.queue(refuse))
      return READING_MS
    })
  }
  /** The milliseconds below which 99 % of the requests were served that were sent after that time. */
  const p99Ms = (afterMs = 0) => {
    const sorted = served.flatMap(({ sentMs, ms }) => (sentMs > afterMs ? [ms] : [])).sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  }
  return { send, served, count, p99Ms }
}

function setUp({
  maxConcurrentRequests = 256,
  maxExpectedWaitMs = 500,
  costMs = (_: number): number => 0.5,
} = {}) {
  const loop = simulatedLoop()
  const log: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void log.push(message) }
  const admission = admissionWith({ maxConcurrentRequests, maxExpectedWaitMs, logger }, loop.clock)
  return { loop, log, admission, requests: requestsTo(loop, admission, costMs) }
}

/** V8 compiles while the first requests are served. */
const inNewProcess = (nth: number) => 0.5 + 4 * Math.exp(-nth / 100)

/** Users send `perSecond` requests together, and none before the last one was answered. */
function overload({ loop, requests }: ReturnType<typeof setUp>, perSecond: number) {
  let waitingUsers = 0
  const arrive = () => {
    for (let due = perSecond / SECOND; due > 0 && waitingUsers < 3_000; due--) {
      waitingUsers++
      requests.send(() => void waitingUsers--)
    }
    loop.later(1, arrive)
  }
  arrive()
}

describe('the admission of requests (R77)', () => {
  it('refuses none of 50 or 200 clients of a new process, who wait for each response', () =>
    everyCase([50, 200], (clients) => {
      const { loop, requests, log } = setUp({ costMs: inNewProcess })
      const sendOn = () => requests.send(sendOn)
      for (let client = 0; client < clients; client++) sendOn()
      loop.run(5 * SECOND)
      expect(requests.served.length).toBeGreaterThan(8_000)
      expect(requests.count.refused).toBe(0)
      expect(log).toEqual([])
    }))

  it('answers 99 % of those that it admits within half a second, from the first one on, while ten times as many arrive as the process can serve', () =>
    everyCase([0.5, 1], (ms) => {
      const setup = setUp({ costMs: () => ms })
      const { loop, requests, log } = setup
      overload(setup, (10 * SECOND) / ms)
      loop.run(6 * SECOND)
      expect(requests.served.length).toBeGreaterThan(2_000)
      expect(requests.count.refused).toBeGreaterThan(requests.served.length / 2)
      expect(requests.p99Ms()).toBeLessThanOrEqual(SECOND / 2)
      expect(log).toHaveLength(1)
      expect(log[0]).toContain('maxExpectedWait')
    }))

  it('admits fewer at once, the more time each takes and the shorter the wait may be', () =>
    everyCase(
      [
        { ms: 4, maxExpectedWaitMs: 500 },
        { ms: 8, maxExpectedWaitMs: 500 },
        { ms: 4, maxExpectedWaitMs: 200 },
      ],
      ({ ms, maxExpectedWaitMs }) => {
        const setup = setUp({ costMs: () => ms, maxExpectedWaitMs })
        overload(setup, (10 * SECOND) / ms)
        setup.loop.run(12 * SECOND)
        // The first requests are admitted before anything was measured, and delay others until they are served.
        const p99Ms = setup.requests.p99Ms(3 * SECOND)
        expect(p99Ms).toBeGreaterThan(maxExpectedWaitMs / 4)
        expect(p99Ms).toBeLessThanOrEqual(1.2 * maxExpectedWaitMs)
      },
    ))

  it('refuses none of a few requests in an app whose other work keeps the processor busy', () => {
    const { loop, requests } = setUp()
    const work = () => {
      loop.queue(work)
      return 150
    }
    work()
    const arrive = () => {
      requests.send(() => {})
      loop.later(70, arrive)
    }
    arrive()
    loop.run(20 * SECOND)
    expect(requests.served.length).toBeGreaterThan(100)
    expect(requests.count.refused).toBe(0)
  })

  it('refuses nothing because something else blocked the event loop once', () => {
    const { loop, requests } = setUp()
    const sendOn = () => requests.send(sendOn)
    for (let client = 0; client < 100; client++) sendOn()
    loop.later(3 * SECOND, () => loop.queue(() => 490))
    loop.run(6 * SECOND)
    expect(requests.count.refused).toBe(0)
  })

  it('admits at most as many at once as maxConcurrentRequests says, while nothing is waiting for the processor', async () => {
    const { admission, log, loop } = setUp({ maxConcurrentRequests: 40 })
    let finish = () => {}
    const end = new Promise<void>((resolve) => {
      finish = resolve
    })
    const req = {} as Request
    const admitted = Array.from({ length: 40 }, () => admission.admit(req, () => end))
    loop.run(5 * SECOND)
    const refusal = { code: 'ERR_MFA_SERVICE_BUSY', retryAfterSeconds: 2 }
    await expect(admission.admit(req, () => end)).rejects.toMatchObject(refusal)
    await expect(admission.admit(req, () => end)).rejects.toMatchObject(refusal)
    expect(log).toHaveLength(1)
    finish()
    await Promise.all(admitted)
    await admission.admit(req, async () => {})
  })

  it('is saturated after a tenth of a second without a pause of the event loop', () => {
    const logger = { warn: () => {}, error: () => {} }
    const admission = admissionWith({ maxConcurrentRequests: 256, maxExpectedWaitMs: 500, logger })
    expect(admission.isSaturated()).toBe(false)
    const end = performance.now() + 150
    while (performance.now() < end);
    expect(admission.isSaturated()).toBe(true)
  })
})
