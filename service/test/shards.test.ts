import { existsSync, readFileSync } from 'node:fs'
import { type MfaClient, mfaClient } from 'countersign'
import { wire } from 'countersign/protocol'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { host, jsonAgent } from '../../test/kit/host.js'
import { challenge, login, verify } from '../../test/kit/sign-in.js'
import { operator } from '../src/operator/operator.js'
import { openStore } from '../src/store/open.js'
import { freshPhone, listen, SECRET } from './kit.js'
import { postgresMissing } from './postgres.js'
import { type OwnPostgres, ownPostgres } from './postgres-cluster.js'
import { MAIN, type Running, start, startListening } from './processes.js'

const KEYS = ['key_of_shard_one_0123456789', 'key_of_shard_two_0123456789']
const { accountName, shardOf } = wire
/** Messages to the phones of one country in an hour, over all shards. */
const PER_COUNTRY = 60

/** The service over two databases: two processes of the first shard, and one of the second. */
describe.skipIf(postgresMissing)('two shards', () => {
  const databases: OwnPostgres[] = []
  const running: Running[] = []
  const clients: MfaClient[] = []
  const codes = new Map<string, string>()
  let receiver: Awaited<ReturnType<typeof listen>>
  let urls: string[]
  let mfa: MfaClient

  const envOf = (number: number): Record<string, string> => ({
    DATABASE_URL: databases[number - 1]?.url ?? '',
    SERVICE_SHARD: `${number}/2`,
    SERVICE_SECRET: SECRET,
    SERVICE_API_KEY: KEYS[number - 1] ?? '',
    SERVICE_REQUESTS_PER_ACCOUNT: '1000',
    SERVICE_SENDS_PER_COUNTRY_HOUR: String(PER_COUNTRY),
    SERVICE_SENDS_PER_PREFIX_HOUR: String(PER_COUNTRY),
    SERVICE_MIN_CONVERSION_PERCENT: '0',
    SERVICE_DELIVERY: `${receiver.url}/hook?secret=shared-with-the-receiver`,
  })
  const run = async (env: Record<string, string>) => {
    const one = await startListening(env)
    running.push(one)
    return one
  }
  const clientOf = (baseUrl: string | readonly string[], apiKey: string | readonly string[] = KEYS) => {
    const client = mfaClient({ baseUrl, apiKey })
    clients.push(client)
    return client
  }
  /** The output of a service that does not start. */
  const refusal = async (env: Record<string, string>) => {
    const { ended, output } = start(env)
    expect(await ended).not.toBe(0)
    return output()
  }
  const query = async (database: OwnPostgres | undefined, text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: database?.url })
    await client.connect()
    return client.query(text, values).finally(() => client.end())
  }
  /** In which of the databases an account is. */
  const databasesOf = async (account: string) => {
    const found = await Promise.all(
      databases.map((one) => query(one, 'SELECT FROM account WHERE account = $1', [`account:${account}`])),
    )
    return found.flatMap(({ rowCount }, index) => (rowCount ? [index + 1] : []))
  }
  const shardOfAccount = (account: string) => shardOf(accountName(account, ''), 2)
  /** A user whose account belongs to this shard. */
  const userOf = (shard: number) => {
    for (;;) {
      const { phone } = freshPhone()
      if (shardOfAccount(phone.slice(1)) === shard) return userWith(phone)
    }
  }
  const userWith = (phone: string) => ({
    account: phone.slice(1),
    contact: { kind: 'phone', phone } as const,
    method: 'sms' as const,
  })
  const factorsAt = (shard: number, { account, contact }: ReturnType<typeof userOf>) =>
    fetch(`${urls[shard - 1]}/v1/mfa/factors`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS[shard - 1]}` },
      body: new URLSearchParams({ User: contact.phone, Account: account }),
    })
  const codeOf = ({ contact }: ReturnType<typeof userOf>) => codes.get(contact.phone) ?? ''

  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error('The service is not built: run npm run build first.')
    databases.push(...(await Promise.all([ownPostgres(), ownPostgres()])))
    receiver = await listen(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const { to, code } = JSON.parse(body)
      if (code) codes.set(to, code)
      response.end()
    })
    const [first, again, second] = await Promise.all([run(envOf(1)), run(envOf(1)), run(envOf(2))])
    urls = [first.url, second.url, again.url]
    mfa = clientOf(urls.slice(0, 2))
  })
  afterAll(async () => {
    for (const client of clients) await client.close()
    for (const { child, ended } of running) {
      child.kill('SIGKILL')
      await ended
    }
    await receiver?.close()
    for (const one of databases) await one.remove()
  })

  test('each have the accounts of half of all names, which every process and restart finds there', async () => {
    const users = Array.from({ length: 40 }, () => userWith(freshPhone().phone))
    await Promise.all(users.map((user) => mfa.send(user)))
    const found = await Promise.all(users.map(({ account }) => databasesOf(account)))
    expect(found).toEqual(users.map(({ account }) => [shardOfAccount(account)]))
    expect(new Set(found.flat())).toEqual(new Set([1, 2]))

    const restarted = clientOf([String(urls[2]), String((await run(envOf(2))).url)])
    for (const user of users) {
      const answer = await restarted.verify({ ...user, code: codeOf(user), kind: 'code' })
      expect(answer).toEqual({ outcome: 'valid' })
    }
  })

  test('divide accounts as documented, and split each range in two when their number doubles', () => {
    // Their SHA-256 begin with e117b2d3, a4c5109f and 67dae846.
    const known = ['account:user-0', 'account:user-1', 'contact:ann@example.com']
    expect(known.map((name) => shardOf(name, 2))).toEqual([2, 2, 1])
    expect(known.map((name) => shardOf(name, 3))).toEqual([3, 2, 2])
    const names = Array.from({ length: 1_000 }, (_, i) => accountName(`user-${i}`, ''))
    const counts = [1, 2].map((shard) => names.filter((name) => shardOf(name, 2) === shard).length)
    for (const count of counts) expect(count).toBeGreaterThan(400)
    for (const name of names) expect(Math.ceil(shardOf(name, 4) / 2)).toBe(shardOf(name, 2))
  })

  test('accept a code once that is verified a hundred times at two processes', async () => {
    const user = userOf(1)
    const other = clientOf([String(urls[2]), String(urls[1])])
    const sent = await mfa.send(user)
    const { challenge } = sent as { challenge?: string }
    expect(challenge).toMatch(/^1\../)
    const request = { ...user, code: codeOf(user), kind: 'code', ...(challenge && { challenge }) } as const
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? mfa : other).verify(request)),
    )
    expect(answers.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
  })

  test('answer about factors, keys, backup codes and deliveries of their own accounts', async () => {
    for (const shard of [1, 2]) {
      const user = userOf(shard)
      const sent = await mfa.send(user)
      expect(sent).toMatchObject({ outcome: 'sent', challenge: expect.stringMatching(`^${shard}\\.`) })
      const { challenge = '' } = sent as { challenge?: string }
      expect(await mfa.deliveryOf?.({ challenge })).toMatchObject({ status: 'sent', channel: 'sms' })
      // Without the number of the shard, and at a shard that does not exist.
      expect(await mfa.deliveryOf?.({ challenge: challenge.slice(2) })).toBeUndefined()
      expect(await mfa.deliveryOf?.({ challenge: `3${challenge.slice(1)}` })).toBeUndefined()
      const created = await mfa.createBackupCodes?.(user)
      expect(created).toMatchObject({ outcome: 'created' })
      expect(await mfa.factorsOf?.(user)).toMatchObject({ backupCodesLeft: 10 })
      expect(await mfa.keys?.list(user)).toMatchObject({ keys: [] })
      expect(await mfa.keys?.relyingParty()).toBeUndefined()
    }
  })

  test('never send more to a country together than its limit', async () => {
    // Unlike those of the other tests, these numbers are assigned, and counted.
    const users = Array.from({ length: PER_COUNTRY + 40 }, (_, i) => userWith(`+447400${100_000 + i}`))
    const outcomes: string[] = []
    for (const user of users) outcomes.push((await mfa.send(user)).outcome)
    const perShard = [1, 2].map(
      (shard) =>
        users.filter(({ account }, i) => shardOfAccount(account) === shard && outcomes[i] !== 'refused')
          .length,
    )
    expect(perShard).toEqual([PER_COUNTRY / 2, PER_COUNTRY / 2])
  })

  test('refuse a limit of an application of which they would have no part', async () => {
    const store = await openStore({ databaseUrl: databases[0]?.url, dataDir: '', migrations: 'skip' })
    try {
      const acting = operator(store, 'ann')
      const refused = /^sendsPerCountryHour must be at least the number of shards, .* \(got 1 and 2\)\.$/
      await expect(acting.createApplication('small', { sendsPerCountryHour: 1 })).rejects.toThrow(refused)
      await acting.createApplication('small', { sendsPerCountryHour: 2 })
      const change = { set: { sendsPerCountryHour: 1 } }
      await expect(acting.changeSettings('small', change)).rejects.toThrow(refused)
    } finally {
      await store.close()
    }
  })

  test('refuse accounts of each other, and every list of addresses that is not theirs', async () => {
    const user = userOf(2)
    const response = await factorsAt(1, user)
    expect(response.status).toBe(421)
    expect(await response.json()).toMatchObject({
      code: 'wrong_shard',
      detail: 'The account belongs to shard 2/2, and this is shard 1/2.',
    })

    const [first = '', second = '', again = ''] = urls
    const wrong = [
      clientOf([second, first], [...KEYS].reverse()),
      clientOf([first, again], String(KEYS[0])),
      clientOf([first, second, again], [...KEYS, String(KEYS[0])]),
      clientOf(second, String(KEYS[1])),
    ]
    for (const client of wrong) {
      const asked = Promise.all([userOf(1), userOf(2)].map((one) => client.factorsOf?.(one)))
      await expect(asked).rejects.toThrow(/service\.baseUrl.*SERVICE_SHARD/)
    }
    // A client that does not ask first is refused as well.
    const hasty = mfaClient({ baseUrl: first, apiKey: String(KEYS[0]), dialect: 'countersign' })
    clients.push(hasty)
    await expect(hasty.factorsOf?.(user)).rejects.toThrow(/another shard does/)
  })

  test('refuse to start with the database of another shard, as another shard, or as none', async () => {
    const first = envOf(1)
    const { SERVICE_SHARD: _, ...none } = first
    const starts = [
      { ...first, DATABASE_URL: envOf(2).DATABASE_URL ?? '' },
      { ...first, SERVICE_SHARD: '1/3' },
      none,
    ]
    const refusals = await Promise.all(starts.map(refusal))
    for (const output of refusals) {
      expect(output).toMatch(/SERVICE_SHARD .* is .*, but the database .* belongs to shard [12]\/2/)
    }
    const [faulty, narrow] = await Promise.all([
      refusal({ ...first, SERVICE_SHARD: '3/2', SERVICE_LOCALE: 'xx' }),
      refusal({ ...first, SERVICE_SENDS_PER_COUNTRY_HOUR: '1', SERVICE_SENDS_PER_PREFIX_HOUR: '1' }),
    ])
    expect(faulty).toMatch(/SERVICE_LOCALE must be/)
    expect(faulty).toMatch(/SERVICE_SHARD must be .* such as 1\/2/)
    expect(narrow).toMatch(/SERVICE_SENDS_PER_COUNTRY_HOUR must be at least the number of shards/)
    expect(narrow).toMatch(/SERVICE_SENDS_PER_PREFIX_HOUR must be at least the number of shards/)
  })

  test('refuse a database that has accounts of other shards', async () => {
    const [database] = databases
    await database?.sql('CREATE DATABASE whole')
    const url = new URL(database?.url ?? '')
    url.pathname = '/whole'
    const { SERVICE_SHARD: _, ...others } = envOf(1)
    const whole = { ...others, DATABASE_URL: url.href }
    const one = await run(whole)
    const client = clientOf(one.url, String(KEYS[0]))
    await Promise.all([userOf(1), userOf(2)].map((user) => client.send(user)))
    expect(await refusal({ ...whole, SERVICE_SHARD: '1/2' })).toMatch(/has accounts of other shards/)
    const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8')
    const script = /```sql\n(BEGIN[^`]+)```/.exec(page)?.[1] ?? ''
    const own = { url: url.href } as OwnPostgres
    const shards = async () =>
      (await query(own, 'SELECT account FROM account')).rows.map(({ account }) => shardOf(account, 2))
    expect((await shards()).sort()).toEqual([1, 2])
    await query(own, script)
    expect(await shards()).toEqual([1])
    const moved = await run({ ...whole, SERVICE_SHARD: '1/2' })
    expect((await fetch(`${moved.url}/v1/service`)).headers.get('countersign-shard')).toBe('1/2')
  })

  test('fail for their own users only: with one database gone, the others sign in', async () => {
    const phones = [userOf(1), userOf(2)].map(({ contact }) => contact.phone)
    // The host's ids are the accounts.
    const idOf = (shard: number) => {
      for (let i = 0; ; i++) if (shardOfAccount(`u-${i}`) === shard) return `u-${i}`
    }
    const { app, users, failures } = host({
      options: {
        service: { baseUrl: urls.slice(0, 2), apiKey: KEYS, timeout: '4s' },
        userId: ({ id }) => id,
      },
    })
    for (const [index, name] of ['ann', 'ben'].entries()) {
      users[name] = {
        id: idOf(index + 1),
        email: `${name}@example.com`,
        factors: [{ method: 'sms', phone: String(phones[index]) }],
      }
    }
    const begin = async (name: string) => {
      const agent = jsonAgent(app)
      await login(agent, name)
      expect((await challenge(agent, 'sms')).status).toBe(200)
      return agent
    }
    const [ann, ben] = [await begin('ann'), await begin('ben')]

    await databases[1]?.crash()
    const refused = await verify(ben, codes.get(String(phones[1])))
    expect(refused.status).toBe(503)
    expect(failures).toEqual([expect.objectContaining({ status: 503, retryAfterSeconds: 5 })])
    const answer = await factorsAt(2, userOf(2))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await verify(ann, codes.get(String(phones[0])))).status).toBe(200)

    await databases[1]?.start()
    await expect.poll(async () => (await verify(ben, codes.get(String(phones[1])))).status).toBe(200)
  })
})
