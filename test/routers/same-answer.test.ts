import express, { type Request } from 'express'
import { MemoryStore } from 'express-session'
import { Strategy } from 'passport-strategy'
import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { host, jsonAgent, testUsers } from '../kit/host.js'
import { challenge } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

type Agent = ReturnType<typeof jsonAgent>

const PASSWORD = 'correct horse'
const ACCEPTS = ['application/json', 'text/html'] as const

/** A login that fails alike, whatever was wrong. */
class PasswordStrategy extends Strategy {
  readonly name = 'password'

  override authenticate(req: Request): void {
    const { name, password } = req.body
    const user = testUsers()[name]
    if (user && password === PASSWORD) this.success(user)
    else this.fail('no', 401)
  }
}

/** A host that records the steps of a request: calls of its session store, its counters and the service. */
function watchedHost() {
  const steps: string[] = []
  const recording = <Whole extends object>(name: string, whole: Whole): Whole =>
    new Proxy(whole, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          steps.push(`${name} ${String(key)}`)
          return Reflect.apply(value, target, args)
        }
      },
    })
  // A PostgreSQL database with the table of counters, which is empty.
  const pool = {
    query: async ({ text }: { text: string }) => {
      steps.push(text)
      return { rows: text.includes('to_regclass') ? [{ found: 'mfa_counters' }] : [], rowCount: 0 }
    },
  }
  const standIn = standInService()
  const made = host({
    standIn,
    store: recording('session', new MemoryStore()),
    options: { limits: { store: { postgres: { pool } } }, service: recording('service', standIn.service) },
    routes: (app, _mfa, auth) => {
      auth.use(new PasswordStrategy())
      app.post('/password', express.json(), auth.authenticate('password'), (_req, res) => {
        res.status(204).end()
      })
    },
  })
  /** A response in every detail, and the steps it took. */
  const watch = async (ask: () => PromiseLike<Response>) => {
    steps.length = 0
    const { status, headers, text } = await ask()
    const { date: _date, 'x-request-id': _id, ...others } = headers
    return { status, headers: others, text, steps: [...steps] }
  }
  return { ...made, watch }
}

/** The first requests that a user who is not signed in may make; `name` is the account in question. */
const STRANGERS: Record<string, (agent: Agent, name: string) => PromiseLike<unknown> | undefined> = {
  'without a sign-in': () => undefined,
  'after a wrong password': (agent, name) =>
    agent.post('/password').send({ name, password: 'battery staple' }).expect(401),
}

const SENDS = [
  ...['sms', 'email', 'app', 'dual', 'backup', 'nonsense', 'email-2'].map(
    (factor) => ['/mfa/challenge', { factor }] as const,
  ),
  ['/mfa/backup', {}] as const,
]

describe.each(ACCEPTS)('the routes that send messages, as %s (R44),', (accept) => {
  it('respond alike and in the same steps to every user who is not signed in, whichever accounts exist', async () => {
    const { app, watch, standIn } = watchedHost()
    const seen: Record<string, Awaited<ReturnType<typeof watch>>> = {}
    for (const [title, come] of Object.entries(STRANGERS)) {
      for (const name of ['alice', 'bob', 'otto', 'nina', 'nobody-of-that-name', '__proto__']) {
        for (const [path, body] of SENDS) {
          const agent = jsonAgent(app).set('Accept', accept)
          await come(agent, name)
          seen[`${title}, ${name}, ${path} ${JSON.stringify(body)}`] = await watch(() =>
            agent.post(path).send({ ...body, user: name, User: name }),
          )
        }
      }
    }
    const [first, ...others] = Object.entries(seen)
    expect(first?.[1]).toMatchObject({
      status: accept === 'text/html' ? 303 : 401,
      // The second one hides the first from the response, so that it sets no cookie (R21).
      steps: ['session generate', 'session generate'],
    })
    for (const [what, answer] of others) expect(answer, what).toEqual(first?.[1])
    expect(standIn.calls).toEqual([])
  })

  it('respond alike to a signed-in user about another user’s factor and about one that does not exist', async () => {
    // Pages count down.
    stopClock()
    const { app, watch, standIn } = watchedHost()
    const agent = jsonAgent(app).set('Accept', accept)
    await agent.post('/password').send({ name: 'bob', password: PASSWORD }).expect(204)
    const ask = (factor: string) => watch(() => challenge(agent, factor))
    // The first request that counts looks for the table.
    await ask('nonsense')
    const unknown = await ask('nonsense')
    expect(unknown.status).toBe(accept === 'text/html' ? 303 : 404)
    expect(unknown.steps.length).toBeGreaterThan(0)
    for (const factor of [
      ...['email', 'app', 'dual', 'email-2', 'u-ali', 'alice@example.com'],
      ...['+447700900101', '__proto__', 'constructor'],
    ]) {
      expect(await ask(factor), factor).toEqual(unknown)
    }
    expect(standIn.calls).toEqual([])
  })
})
