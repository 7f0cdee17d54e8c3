import { ServerResponse } from 'node:http'
import { format } from 'node:util'
import { MemoryStore } from 'express-session'
import { afterAll, afterEach, expect } from 'vitest'
import { canaries } from './canaries.js'
import { EXCEPTIONS } from './exceptions.js'

/*
 * The setup file of a run with canaries: it searches what this process prints, what it stores as sessions, and what it answers, beside
 * what the probes bring. Every test fails that shows a secret.
 */

Reflect.set(globalThis, 'canaries', canaries)

// It stays: a process of this run does nothing else.
for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
  const print = console[name].bind(console)
  console[name] = (...args: unknown[]) => {
    canaries.search('output', format(...args))
    print(...args)
  }
}

const set = MemoryStore.prototype.set
MemoryStore.prototype.set = function (...args) {
  canaries.search('session', JSON.stringify(args[1]))
  return set.apply(this, args)
}

const end = ServerResponse.prototype.end
ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
  const [body] = args
  const path = this.req?.url ?? ''
  const sink = path.startsWith('/metrics') ? 'metrics' : 'answer'
  // Tests read what was delivered from the service of the test kit and from inboxes.
  if (!/inbox|messages/.test(path) && (typeof body === 'string' || body instanceof Uint8Array))
    canaries.search(sink, `${JSON.stringify(this.getHeaders())}\n${Buffer.from(body as string).toString()}`)
  return Reflect.apply(end, this, args)
} as typeof end

afterEach(({ task: { file, name } }) => {
  const hits = canaries.takeHits()
  const title = name.replace(/ \(R\d.*\)$/, '')
  const isException = [file.name, `${file.name}: ${title}`].some((one) => one in EXCEPTIONS)
  if (!isException) expect(hits).toEqual([])
})
afterAll(() => canaries.forget())
