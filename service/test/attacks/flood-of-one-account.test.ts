import type { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../../test/kit/loopback.js'
import { apiServer } from '../../src/http/server.js'
import { type CountersignService, createService } from '../../src/service.js'
import { postForm } from '../api-kit.js'
import { API_KEY, freshEmail, SECRET } from '../kit.js'
import { postgresMissing, startPostgres } from '../postgres.js'

const FLOOD = 1_000
const OTHERS = 20
const DEADLINE_MS = 8_000

type Parameters = Record<string, string>

/** What the attacker sends a thousand times at once, all of it for the account of one user. */
const FLOODS: readonly [what: string, path: string, parameters: (nr: number) => Parameters][] = [
  ['codes from a mail', '/v1/mfa/verify', () => ({ Type: 'EMAIL', Code: '000000' })],
  ['codes of an app', '/v1/mfa/verify', () => ({ Type: 'APP', Code: '000000' })],
  ['backup codes', '/v1/mfa/verify', () => ({ Type: 'EMAIL', Code: 'AAAA-AAAA-AAAA-AAAA', Kind: 'BACKUP' })],
  ['requests for a code', '/v1/mfa', () => ({ Type: 'EMAIL' })],
  ['set-ups of an app', '/v1/mfa/app', () => ({})],
  ['requests for backup codes', '/v1/mfa/backup/codes', () => ({})],
  [
    'new keys',
    '/v1/mfa/keys/registration/options',
    (nr) => ({ Type: 'PASSKEY', Transaction: `enroll-${nr}` }),
  ],
  ['questions about the factors', '/v1/mfa/factors', () => ({})],
  ['exports', '/v1/users/export', () => ({})],
]

describe.each(['PostgreSQL', 'PGlite'])('an attacker who floods one account, on %s (R139)', (database) => {
  if (database === 'PostgreSQL' && postgresMissing) return test.skip(postgresMissing, () => {})

  let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined
  let service: CountersignService
  let server: ReturnType<typeof createServer>
  let url: string
  beforeAll(async () => {
    postgres = database === 'PostgreSQL' ? await startPostgres() : undefined
    service = await createService({
      databaseUrl: postgres?.url,
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      requestTimeout: DEADLINE_MS,
      relyingParty: { id: 'example.com', origins: ['https://app.example.com'] },
      limits: { sendsPerApplicationDay: 10_000_000 },
      logger: () => {},
    })
    server = apiServer(service.api)
    url = `http://127.0.0.1:${await listenOnLoopback(server)}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await service.close()
    await postgres?.stop()
  })

  const post = async (path: string, parameters: Parameters) => {
    const start = performance.now()
    const answer = await postForm(url + path, parameters)
    return { ...answer, ms: performance.now() - start }
  }

  /** Signs in by a code that is sent to a new mailbox. */
  async function signIn() {
    const { email } = freshEmail()
    const sent = await post('/v1/mfa', { User: email, Type: 'EMAIL' })
    const [message] = (await service.inbox?.messages({ to: email })) ?? []
    const code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? 'none'
    const verified = await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code: code })
    return [sent, verified]
  }

  test.each(FLOODS)('with %s does not delay the users who sign in meanwhile', async (what, path, parametersOf) => {
    const { email } = freshEmail()
    const flood = Promise.all(
      Array.from({ length: FLOOD }, (_, nr) => post(path, { User: email, ...parametersOf(nr) })),
    )
    const others = (await Promise.all(Array.from({ length: OTHERS }, signIn))).flat()
    const flooded = await flood
    const slowest = Math.max(...others.map(({ ms }) => ms))
    console.log(database, what, 'others slowest', Math.round(slowest), tally(others), 'flood', tally(flooded), Math.round(Math.max(...flooded.map(({ ms }) => ms))))
    expect(others.filter(({ status }) => status !== 200)).toEqual([])
    expect(slowest).toBeLessThan(DEADLINE_MS)
    expect(flooded.filter(({ status }) => status >= 500)).toEqual([])
    const refused = flooded.filter(({ body }) => body.code === 'account_busy')
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    }
  })
})

function tally(answers: readonly { status: number; body: unknown }[]) {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = `${status} ${(body as { code?: string }).code ?? ''}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
