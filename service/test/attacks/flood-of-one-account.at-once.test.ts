import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listenOnLoopback } from '../../../test/kit/loopback.js'
import { apiServer } from '../../src/api/http/server.js'
import { createService } from '../../src/run/create-service.js'
import type { CountersignService } from '../../src/run/service.js'
import { postForm } from '../api-kit.js'
import { API_KEY, eventually, freshEmail, SECRET } from '../kit.js'
import { postgresMissing, startPostgres } from '../postgres.js'
import { type Flood, flood } from './flood.js'

const REQUESTS = 1_000
const UNDER_WAY = 8
const OTHERS = 20

type Parameters = Readonly<Record<string, string>>

/** The requests that the attacker sends a thousand times at once; all of them change the row of one account. */
const WRITING: readonly [what: string, path: string, parameters: (nr: number) => Parameters][] = [
  ['set-ups of an app', '/v1/mfa/app', () => ({})],
  ['requests for codes', '/v1/mfa', () => ({ Type: 'EMAIL' })],
  ['requests for backup codes', '/v1/mfa/backup/codes', () => ({})],
  ['removals of an app', '/v1/mfa/factors/remove', () => ({ Factor: 'APP' })],
  [
    'new passkeys',
    '/v1/mfa/keys/registration/options',
    (nr) => ({ Type: 'PASSKEY', Transaction: `enroll-${nr}` }),
  ],
  ['codes from a mail', '/v1/mfa/verify', () => ({ Type: 'EMAIL', Code: '000000' })],
  ['codes of an app', '/v1/mfa/verify', () => ({ Type: 'APP', Code: '000000' })],
]

/** The same, of what only reads. */
const READING: typeof WRITING = [
  ['questions about the factors', '/v1/mfa/factors', () => ({})],
  ['exports', '/v1/users/export', () => ({})],
]

describe('an attacker who sends 1,000 requests for one account at once, on PostgreSQL (R139)', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let pool: pg.Pool
  let service: CountersignService
  let server: ReturnType<typeof apiServer>
  let port: number
  beforeAll(async () => {
    postgres = await startPostgres()
    pool = new pg.Pool({ connectionString: postgres.url, max: 1, options: '-c search_path=mfa' })
    // The server may be stopped before the last connection is closed.
    pool.on('error', () => {})
    service = await createService({
      databaseUrl: postgres.url,
      // Nothing here may depend on how busy the machine is.
      databaseStatementTimeout: '60s',
      requestTimeout: '120s',
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      relyingParty: { id: 'example.com', origins: ['https://app.example.com'] },
      logger: () => {},
    })
    server = apiServer(service.api)
    port = await listenOnLoopback(server)
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await service.close()
    await pool.end()
    await postgres.stop()
  })

  const post = (path: string, parameters: Record<string, string>) =>
    postForm(`http://127.0.0.1:${port}${path}`, parameters)

  /** Signs in by a code that is sent to a new mailbox. */
  async function signIn() {
    const { email } = freshEmail()
    const sent = await post('/v1/mfa', { User: email, Type: 'EMAIL' })
    const [message] = (await service.inbox?.messages({ to: email })) ?? []
    const Code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? 'none'
    const verified = await post('/v1/mfa/verify', { User: email, Type: 'EMAIL', Code })
    return [sent.status, verified.status]
  }

  const signInAll = async () => (await Promise.all(Array.from({ length: OTHERS }, signIn))).flat()
  const everyoneSucceeds = Array.from({ length: 2 * OTHERS }, () => 200)

  const requestsOf = (email: string, parametersOf: (nr: number) => Parameters) =>
    Array.from({ length: REQUESTS }, (_, nr) => ({
      // Every spelling of the mailbox is the same account.
      User: nr % 2 ? email : email.toUpperCase(),
      ...parametersOf(nr),
    }))

  const refusedIn = ({ answers }: Flood) => answers.filter(({ code }) => code === 'account_busy')

  /** An account whose row another process holds until it is released. */
  async function heldAccount() {
    const { email } = freshEmail()
    await post('/v1/mfa/app', { User: email })
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM account WHERE account = $1 FOR UPDATE', [`contact:${email}`])
    return {
      email,
      async release() {
        await client.query('COMMIT')
        client.release()
      },
    }
  }

  test.each(WRITING)(
    'with %s lets all others sign in while the account is held by another process',
    async (_what, path, parametersOf) => {
      const { email, release } = await heldAccount()
      const flooding = await flood(port, path, requestsOf(email, parametersOf))
      try {
        expect(await signInAll()).toEqual(everyoneSucceeds)
        await eventually(() => expect(refusedIn(flooding).length).toBe(REQUESTS - UNDER_WAY))
      } finally {
        await release()
      }
      await flooding.done
      for (const refused of refusedIn(flooding))
        expect(refused).toMatchObject({ status: 429, retryAfter: '1' })
    },
  )

  test.each(READING)('with %s lets all others sign in', async (_what, path, parametersOf) => {
    const { email } = freshEmail()
    const flooding = await flood(port, path, requestsOf(email, parametersOf))
    const others = await signInAll()
    await flooding.done
    expect(others).toEqual(everyoneSucceeds)
    expect(flooding.answers.filter(({ status }) => status >= 500)).toEqual([])
  })

  test('cannot keep the account busy: it is served again after the flood', async () => {
    const { email } = freshEmail()
    const flooding = await flood(
      port,
      '/v1/mfa/factors',
      requestsOf(email, () => ({})),
    )
    await flooding.done
    expect((await post('/v1/mfa/factors', { User: email })).status).toBe(200)
  })
})
