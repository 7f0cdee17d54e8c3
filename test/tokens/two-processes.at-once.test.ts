import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { startProcess } from '../kit/process.js'
import { begin } from '../kit/sockets.js'

const folder = import.meta.dirname

describe.skipIf(postgresMissing)('an API as two processes', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    await postgres.stop()
  })

  async function startApp(): Promise<number> {
    const env = { DATABASE_URL: postgres.url }
    const started = await startProcess(['token-app.mjs'], { folder, env, listens: /Listens on (http:\S+)/ })
    onTestFinished(() => started.stop())
    return Number(new URL(started.url).port)
  }

  const send = (port: number, path: string, body: object, login?: string) =>
    begin(port, {
      path,
      headers: { 'Content-Type': 'application/json', ...(login !== undefined && { 'MFA-Login': login }) },
    }).finish(JSON.stringify(body))

  it('R151: answers one of 200 right codes that arrive at once with tokens', async () => {
    // The first one creates the tables.
    const ports = [await startApp(), await startApp()] as const
    const begun = await send(ports[0], '/login', { name: 'bob' })
    expect(begun.status).toBe(401)
    const login = String(begun.body.login)
    expect((await send(ports[1], '/mfa/challenge', { factor: 'sms' }, login)).status).toBe(200)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) =>
        send(ports[nth % 2 ? 0 : 1], '/mfa/verify', { code: '123456' }, login),
      ),
    )
    expect(answers.filter(({ body }) => 'access' in body)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const issued = await Promise.all(
      ports.map(async (port) => (await begin(port, { method: 'GET', path: '/issued' }).finish()).body.count),
    )
    expect(Number(issued[0]) + Number(issued[1])).toBe(1)
  })
})
