import { type CountersignService, createService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY, appCode, freshEmail, freshPhone, listen, SECRET, wrong } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { KEY_PAGE, RELYING_PARTY, registerSoftwareKey } from './software-key.js'

/** Two services in one process, each with its own connections and HTTP server; `two-processes.at-once.test.ts` has two processes. */
describe('two services over one PostgreSQL', () => {
  if (postgresMissing) return test.skip(postgresMissing, () => {})

  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let services: CountersignService[]
  let servers: Awaited<ReturnType<typeof listen>>[]
  beforeAll(async () => {
    postgres = await startPostgres()
    const options = {
      databaseUrl: postgres.url,
      secret: SECRET,
      apiKey: API_KEY,
      delivery: 'inbox',
      logger: () => {},
      relyingParty: RELYING_PARTY,
      // So that all requests of a race reach the database.
      requestsPerAccount: 1_000,
    }
    services = await Promise.all([createService(options), createService(options)])
    servers = await Promise.all(services.map((service) => listen(service.api)))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()))
    await Promise.all(services.map((service) => service.close()))
    await postgres.stop()
  })

  const post = async (path: string, parameters: Record<string, string>, which = 0) => {
    const response = await fetch(`${servers[which % 2]?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: new URLSearchParams(parameters),
    })
    return { status: response.status, body: await response.json() }
  }
  const statuses = async (path: string, parameters: Record<string, string>) => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => post(path, parameters, i)))
    return answers.map((answer) => answer.status)
  }
  const count = (all: number[], status: number) => all.filter((one) => one === status).length
  const lastText = async (to: string) => (await services[1]?.inbox?.messages({ to }))?.[0]?.text ?? ''
  const delivered = async (phone: string) => /\d{6}/.exec(await lastText(phone))?.[0] ?? ''

  test('of 200 concurrent wrong codes five are evaluated, then the correct one is rejected, and a new one is accepted (R22)', async () => {
    const { phone: User } = freshPhone()
    await post('/v1/mfa', { User, Type: 'SMS' })
    const Code = await delivered(User)
    expect(count(await statuses('/v1/mfa/verify', { User, Type: 'PHONE', Code: wrong(Code) }), 401)).toBe(200)
    expect((await post('/v1/mfa/verify', { User, Type: 'PHONE', Code })).status).toBe(401)
    // Only evaluated attempts count: five more are left before the account is locked.
    await post('/v1/mfa', { User, Type: 'SMS' })
    const control = await delivered(User)
    expect((await post('/v1/mfa/verify', { User, Type: 'PHONE', Code: control }, 1)).status).toBe(200)
  })

  test('of 200 concurrent correct codes one is accepted (R21)', async () => {
    const { phone: User } = freshPhone()
    await post('/v1/mfa', { User, Type: 'SMS' })
    const all = await statuses('/v1/mfa/verify', { User, Type: 'PHONE', Code: await delivered(User) })
    expect([count(all, 200), count(all, 401)]).toEqual([1, 199])
  })

  test('of 200 concurrent correct app codes one is accepted, and the others lock the account (R51)', async () => {
    const { email: User } = freshEmail()
    const { body } = await post('/v1/mfa/app', { User })
    const { secret } = body as { secret: string }
    await post('/v1/mfa/verify', { User, Type: 'APP', Code: appCode(secret, Date.now() - 30_000) })
    const all = await statuses('/v1/mfa/verify', { User, Type: 'APP', Code: appCode(secret) })
    expect([count(all, 200), count(all, 401), count(all, 429)]).toEqual([1, 10, 189])
  })

  test('of 200 concurrent submissions of one assertion one is accepted, and the others are not counted (R69)', async () => {
    const user = { account: 'ann', contact: freshEmail() }
    const [first] = services
    if (!first) throw new Error('No service is running.')
    const { device } = await registerSoftwareKey(first.mfa, user, 'passkey')
    const ceremony = {
      Account: user.account,
      User: user.contact.email,
      Type: 'PASSKEY',
      Transaction: 'login',
    }
    const assert = async () => {
      const { body } = await post('/v1/mfa/keys/authentication/options', { ...ceremony, Purpose: 'sign-in' })
      const Response = JSON.stringify(device.get(Object(body).options, KEY_PAGE))
      return { ...ceremony, Purpose: 'sign-in', Response }
    }
    const all = await statuses('/v1/mfa/keys/authentication/verify', await assert())
    expect([count(all, 200), count(all, 401)]).toEqual([1, 199])
    expect((await post('/v1/mfa/keys/authentication/verify', await assert(), 1)).status).toBe(200)
  })

  test('of 200 concurrent submissions of one backup code one is accepted (R60)', async () => {
    const { email: User } = freshEmail()
    await post('/v1/mfa/backup', { User, Type: 'EMAIL' })
    const Code = /([0-9A-Z]{4}-){3}[0-9A-Z]{4}/.exec(await lastText(User))?.[0] ?? ''
    const all = await statuses('/v1/mfa/verify', { User, Type: 'EMAIL', Kind: 'BACKUP', Code })
    expect(count(all, 200)).toBe(1)
  })

  test('of two administrators who disable each other at once, one stays (R106)', async () => {
    const emails = ['first@example.com', 'second@example.com'] as const
    const actor = (name: string, which: number) => {
      const service = services[which]
      if (!service) throw new Error('The service is missing.')
      return service.operator(name)
    }
    for (const email of emails) {
      const { token } = await actor('system', 0).inviteOperator({ email, role: 'admin' })
      await actor(email, 0).acceptInvitation(token, 'seven quiet otters float')
      await actor(email, 0).recordOwnFactor({ method: 'app', change: 'added' })
    }
    const [first, second] = emails
    const results = await Promise.allSettled([
      actor(first, 0).disableOperator(second),
      actor(second, 1).disableOperator(first),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const left = (await actor('system', 0).listOperators()).filter(({ state }) => state === 'active')
    expect(left).toMatchObject([{ role: 'admin' }])
    const [last = { email: '' }] = left
    const refused = /is the only administrator who can sign in/
    await expect(actor('system', 1).changeRole(last.email, 'viewer')).rejects.toThrow(refused)
    await expect(actor('system', 1).resetOperator(last.email)).rejects.toThrow(refused)
    await expect(actor('system', 1).inviteOperator({ email: last.email, role: 'support' })).rejects.toThrow(
      refused,
    )
  })

  test('200 sends at once: five leave (R43)', async () => {
    const { phone: User } = freshPhone()
    const all = await statuses('/v1/mfa', { User, Type: 'SMS' })
    expect([count(all, 200), count(all, 429)]).toEqual([5, 195])
    expect(await services[0]?.inbox?.messages({ to: User })).toHaveLength(5)
  })
})
