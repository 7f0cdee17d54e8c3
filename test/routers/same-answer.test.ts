import express, { type Request } from 'express'
import { MemoryStore } from 'express-session'
import { Strategy } from 'passport-strategy'
import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { host, jsonAgent, people } from '../kit/host.js'
import { challenge } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

type Agent = ReturnType<typeof jsonAgent>

const PASSWORD = 'correct horse'
const ACCEPTS = ['application/json', 'text/html'] as const

/** A login that says no alike, whatever was wrong. */
class PasswordStrategy extends Strategy {
  readonly name = 'password'

  override authenticate(req: Request): void {
    const { name, password } = req.body
    const user = people()[name]
    if (user && password === PASSWORD) this.success(user)
    else this.fail('no', 401)
  }
}

/** A host that writes down each step that a request takes: at its session store, its counters and the service. */
function watchedHost() {
  const steps: string[] = []
  const noting = <Whole extends object>(name: string, whole: Whole): Whole =>
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
  // The counters as PostgreSQL would keep them, were there any yet.
  const pool = {
    query: async ({ text }: { text: string }) => {
      steps.push(text)
      return { rows: text.includes('to_regclass') ? [{ found: 'mfa_counters' }] : [], rowCount: 0 }
    },
  }
  const standIn = standInService()
  const made = host({
    standIn,
    store: noting('session', new MemoryStore()),
    options: { limits: { store: { postgres: { pool } } }, service: noting('service', standIn.service) },
    routes: (app, _mfa, auth) => {
      auth.use(new PasswordStrategy())
      app.post('/password', express.json(), auth.authenticate('password'), (_req, res) => {
        res.status(204).end()
      })
    },
  })
  /** What an answer was, in every detail, and what it took. */
  const watch = async (ask: () => PromiseLike<Response>) => {
    steps.length = 0
    const { status, headers, text } = await ask()
    const { date: _date, ...told } = headers
    return { status, told, text, steps: [...steps] }
  }
  return { ...made, watch }
}

/** How somebody may come who has not shown a password: `name` is whom they hope to find. */
const STRANGERS: Record<string, (agent: Agent, name: string) => PromiseLike<unknown> | undefined> = {
  'who never tried': () => undefined,
  'whose password was wrong': (agent, name) =>
    agent.post('/password').send({ name, password: 'battery staple' }).expect(401),
}

const SENDS = [
  ...['sms', 'email', 'app', 'dual', 'backup', 'nonsense', 'email-2'].map(
    (factor) => ['/mfa/challenge', { factor }] as const,
  ),
  ['/mfa/backup', {}] as const,
]

describe.each(ACCEPTS)('R44 the routes that send, as %s', (accept) => {
  it('answer whoever has not signed in by one answer and the same steps, whatever exists', async () => {
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
      steps: ['session generate'],
    })
    for (const [who, answer] of others) expect(answer, who).toEqual(first?.[1])
    expect(standIn.calls).toEqual([])
  })

  it('answer whoever has signed in alike about a factor of somebody else and one that nobody has', async () => {
    // Pages count down.
    stopClock()
    const { app, watch, standIn } = watchedHost()
    const agent = jsonAgent(app).set('Accept', accept)
    await agent.post('/password').send({ name: 'bob', password: PASSWORD }).expect(204)
    const ask = (factor: string) => watch(() => challenge(agent, factor))
    // The first to count looks for the table.
    await ask('nonsense')
    const ofNobody = await ask('nonsense')
    expect(ofNobody.status).toBe(404)
    expect(ofNobody.steps.length).toBeGreaterThan(0)
    for (const factor of [
      ...['email', 'app', 'dual', 'email-2', 'u-alice', 'alice@example.com'],
      ...['+447700900101', '__proto__', 'constructor'],
    ]) {
      expect(await ask(factor), factor).toEqual(ofNobody)
    }
    expect(standIn.calls).toEqual([])
  })
})
