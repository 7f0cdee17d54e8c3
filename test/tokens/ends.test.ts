import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory.js'
import { MINUTE, SECOND, stopClock } from '../kit/clock.js'
import type { TestUser } from '../kit/host.js'
import { signal } from '../kit/signal.js'
import { begin, payloadOf, signInWithTokens, signToken, tokenClient, tokenHost } from './kit.js'

const bobOf = (made: ReturnType<typeof tokenHost>) => made.users.bob as TestUser

describe('the end of tokens', () => {
  it('R152: refuses tokens from before an end in guards, refresh and our routes, at the latest ten seconds later', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const { access, refresh } = await signInWithTokens(made, 'bob')
    const client = tokenClient(made.app, { access })
    await client.post('/api/transfer').expect(200)
    await made.parts.account.secure(bobOf(made))
    clock.move(10 * SECOND)
    const { body, headers } = await client.post('/api/transfer').expect(401)
    expect(body.code).toBe('session_ended')
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect((await client.get('/mfa').expect(401)).body.code).toBe('session_ended')
    const refused = await tokenClient(made.app, { access: refresh }).post('/auth/refresh').expect(401)
    expect(refused.body.code).toBe('session_ended')
    expect(made.ends).toEqual([{ userId: 'u-bob', reason: 'secured' }])
    expect(await made.parts.account.isEnded(payloadOf(access) ?? {})).toBe(true)
    const next = await signInWithTokens(made, 'bob')
    await tokenClient(made.app, { access: next.access }).post('/api/transfer').expect(200)
    expect(await made.parts.account.isEnded(payloadOf(next.access) ?? {})).toBe(false)
  })

  it('reads the store once in ten seconds for the guarded requests of a user, and not at all for others', async () => {
    const clock = stopClock()
    const store = memoryStore()
    let reads = 0
    const read = (owner: string) => {
      reads++
      return store.read(owner)
    }
    const counted = { ...store, read }
    const made = tokenHost({ tokens: { store: counted } })
    const { access } = await signInWithTokens(made, 'bob')
    clock.move(11 * SECOND)
    reads = 0
    const client = tokenClient(made.app, { access })
    for (let nth = 0; nth < 5; nth++) await client.get('/api/me').expect(200)
    expect(reads).toBe(0)
    await Promise.all(Array.from({ length: 5 }, () => client.post('/api/transfer').expect(200)))
    expect(reads).toBe(1)
    clock.move(11 * SECOND)
    await client.post('/api/transfer').expect(200)
    expect(reads).toBe(2)
  })

  it('spares the caller of endTokens, and ends all other tokens and pending logins', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const own = await signInWithTokens(made, 'bob')
    const stolen = await signInWithTokens(made, 'bob')
    const login = await begin(made, 'bob')
    await tokenClient(made.app, { access: own.access }).post('/api/password').expect(200)
    expect(made.ends).toEqual([
      { userId: 'u-bob', exceptSessionId: payloadOf(own.access)?.sid, reason: 'new_password' },
    ])
    clock.move(10 * SECOND)
    await tokenClient(made.app, { access: own.access }).post('/api/transfer').expect(200)
    await tokenClient(made.app, { access: stolen.access }).post('/api/transfer').expect(401)
    await tokenClient(made.app, { access: stolen.refresh }).post('/auth/refresh').expect(401)
    const pending = tokenClient(made.app, { login })
    await pending.post('/mfa/challenge').send({ factor: 'sms' })
    await pending.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(401)
    // The refreshed token of the caller is one of the new generation.
    const { body } = await tokenClient(made.app, { access: own.refresh }).post('/auth/refresh').expect(200)
    expect(payloadOf(body.access)).toMatchObject({ mfa: { generation: 1 } })
    await made.parts.account.secure(bobOf(made))
    clock.move(10 * SECOND)
    await tokenClient(made.app, { access: body.access }).post('/api/transfer').expect(401)
  })

  it('spares no one who calls endTokens with a token that has ended', async () => {
    const made = tokenHost()
    const { access } = await signInWithTokens(made, 'bob')
    await made.parts.account.secure(bobOf(made))
    await tokenClient(made.app, { access }).post('/api/password').expect(200)
    expect(made.ends.at(-1)).toEqual({ userId: 'u-bob', reason: 'new_password' })
  })

  it('R152: refuses claims of an issuer that say of no time after the end', async () => {
    const clock = stopClock()
    const made = tokenHost()
    const now = Math.floor(Date.now() / 1000)
    const claims = { sub: 'u-bob', iss: 'https://login.example.com', sid: 'theirs' }
    const { account } = made.parts
    expect(await account.isEnded({ ...claims, iat: now })).toBe(false)
    await account.secure(bobOf(made))
    expect(await account.isEnded(claims)).toBe(true)
    expect(await account.isEnded({ ...claims, iat: now })).toBe(true)
    expect(await account.isEnded({ ...claims, auth_time: 'later' })).toBe(true)
    clock.move(MINUTE)
    expect(await account.isEnded({ ...claims, iat: now + 60 })).toBe(false)
    expect(await account.isEnded({})).toBe(true)
  })

  it('ends a pending login with the sessions of its user', async () => {
    const made = tokenHost()
    const client = tokenClient(made.app, { login: await begin(made, 'bob') })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    await made.parts.account.secure(bobOf(made))
    await client.post('/mfa/verify').send({ code: made.standIn.newestCode() }).expect(401)
    expect(made.issued).toEqual([])
  })

  it('R152: answers 401 and reports the login when the sessions ended while its tokens were issued', async () => {
    const [arrived, released] = [signal(), signal()]
    const made = tokenHost({
      tokens: {
        async issue(_user, claims) {
          arrived.give()
          await released.given
          return { access: signToken({ ...claims, kind: 'access' }) }
        },
      },
    })
    const client = tokenClient(made.app, { login: await begin(made, 'bob') })
    await client.post('/mfa/challenge').send({ factor: 'sms' }).expect(200)
    const answer = client
      .post('/mfa/verify')
      .send({ code: made.standIn.newestCode() })
      .then((sent) => sent)
    await arrived.given
    await made.parts.account.secure(bobOf(made))
    released.give()
    expect((await answer).status).toBe(401)
    expect((await answer).body.code).toBe('session_ended')
    expect(made.ends).toEqual([
      { userId: 'u-bob', reason: 'secured' },
      { userId: 'u-bob', sessionId: expect.any(String), reason: 'issued_too_late' },
    ])
  })

  it('goes on when onEnded fails, and logs it', async () => {
    const logged: unknown[] = []
    const made = tokenHost({
      tokens: {
        onEnded: () => {
          throw new Error('the database is down')
        },
      },
      options: { logger: { warn: () => {}, error: (line) => void logged.push(line) } },
    })
    const clock = stopClock()
    const { access } = await signInWithTokens(made, 'bob')
    await made.parts.account.secure(bobOf(made))
    expect(logged).toEqual([expect.stringContaining('tokens.onEnded failed')])
    clock.move(MINUTE)
    await tokenClient(made.app, { access }).post('/api/transfer').expect(401)
  })
})
