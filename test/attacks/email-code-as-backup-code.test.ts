import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FactorInput, type MfaEvent, requireMfa } from '../../src/index.js'
import { EMPTY_RECORD, host, signIn } from '../kit/host.js'
import { challenge, verify } from '../kit/sign-in.js'

/*
 * The attacker has the password and reads the mailbox. They request a code by email in session A, and type it as a backup code
 * in session B, which never requested a code.
 */

const API_KEY = 'key_of_the_attacked_service_0123'
let service: CountersignService
let server: Server

beforeAll(async () => {
  service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for the attacks, long enough',
    apiKey: API_KEY,
    applicationName: 'Testbed',
    transcriber: 'off',
    delivery: { email: 'inbox', sms: 'inbox' },
  })
  server = createServer(service.api).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await service.close()
})

/** A host app whose user has one factor only, and the attack on it. */
async function attack(factor: FactorInput & { readonly method: 'email' | 'sms' }, dialect?: 'published') {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const to = factor.method === 'email' ? factor.email : factor.phone
  const events: MfaEvent[] = []
  const { app } = host({
    options: {
      service: { baseUrl: `http://127.0.0.1:${port}`, apiKey: API_KEY, dialect },
      factors: () => [factor],
      userId: () => `u-${factor.method}`,
      ...EMPTY_RECORD,
      onEvent: (event) => events.push(event),
    },
    routes: (app) => {
      app.post('/limit', requireMfa({ minStrength: 'medium' }), (_req, res) => void res.json({ done: true }))
    },
  })
  const [sessionA, sessionB] = [await signIn(app, 'bob'), await signIn(app, 'bob')]
  await challenge(sessionA, factor.method).expect(200)
  const [message] = (await service.inbox?.messages({ to })) ?? []
  const code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0]
  return { app, events, sessionA, sessionB, code, typed: await verify(sessionB, code, { factor: 'backup' }) }
}

describe('a code sent by email to one session, typed as a backup code in another (R91, R97)', () => {
  it('is refused with the Countersign service, which the client recognizes by itself', async () => {
    const { sessionA, sessionB, code, typed, events } = await attack({
      method: 'email',
      email: 'careful@example.com',
    })
    expect(typed.status).toBe(400)
    expect(typed.body.code).toBe('malformed_code')
    await sessionB.get('/secret').expect(401)
    expect(events.map(({ type }) => type)).not.toContain('warning')
    // The code still belongs to the session that requested it.
    await verify(sessionA, code).expect(200)
  })

  it('counts only as a code by email where the app forces the published API, and is a warning', async () => {
    const mailbox = { method: 'email', email: 'careless@example.com' } as const
    const { sessionB, typed, events } = await attack(mailbox, 'published')
    expect(typed.status).toBe(200)
    expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'MFA_WARN_DIALECT' }))
    const { body } = await sessionB.get('/secret').expect(200)
    expect(body.mfa.amr).toEqual(['pwd', 'otp', 'mfa'])
    expect((await sessionB.post('/limit').expect(403)).body.code).toBe('enrollment_required')
  })

  it('counts as a text message if it was sent as one, and not as a one-time password beside it', async () => {
    const { sessionB } = await attack({ method: 'sms', phone: '+447700900177' }, 'published')
    const { body } = await sessionB.get('/secret').expect(200)
    expect(body.mfa.amr).toEqual(['pwd', 'sms', 'mfa'])
  })
})
