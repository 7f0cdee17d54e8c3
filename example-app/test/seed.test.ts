import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { mfaClient } from 'countersign'
import { ServiceError } from 'countersign/protocol'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { verify } from '../../test/kit/sign-in.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { appCode } from '../src/app-code.js'
import type { ExternalService } from '../src/enroll-seed-app.js'
import { seed } from '../src/seed.js'
import { seedAppCode } from '../src/seed-apps.js'
import { SEED_USERS } from '../src/seed-users.js'
import { appSecretsIn } from '../src/store/app-secrets.js'
import { openTestVault, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

describe('the table of users in the README', () => {
  it('has the users that are seeded, with their passwords, factors and secrets', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const rows = SEED_USERS.map(({ username, password, shows, appSecret }) => {
      return `| ${username} | \`${password}\` | ${shows} | ${appSecret ? `\`${appSecret}\`` : '–'} |`
    })
    expect(readme).toContain(`|---|---|---|---|\n${rows.join('\n')}\n\n`)
  })
})

describe('seeding', () => {
  it('changes nothing the second time', async () => {
    const count = await vault.context.users.count()
    expect(await seed(vault.seeding)).toEqual([])
    expect(await vault.context.users.count()).toBe(count)
  })

  it('gives alice an app whose current code signs her in', async () => {
    const alice = vault.browser()
    await signIn(alice, 'alice')
    const page = await alice.get('/mfa').expect(200)
    expect(page.body.factors.map(({ method }: { method: string }) => method)).toEqual(['app', 'sms', 'email'])
    const code = seedAppCode('alice', Date.now())
    await verify(alice, code, { factor: 'app' }).expect(200)
    expect((await alice.get('/me')).body.mfa.amr).toEqual(['pwd', 'otp', 'mfa'])
  })

  it('sends alice backup codes by email, each valid for one sign-in', async () => {
    const { body } = await vault.browser().get('/inbox').query({ to: 'alice@vault.example' })
    const mail = body.messages.find(({ text }: { text: string }) => /backup/i.test(text))
    const code = /^\W*([0-9A-Z]{4}(?:-[0-9A-Z]{4})+)\W*$/m.exec(mail.text)?.[1]
    expect(code).toBeDefined()
    for (const status of [200, 401]) {
      const alice = vault.browser()
      await signIn(alice, 'alice')
      await verify(alice, code, { factor: 'backup' }).expect(status)
    }
  })
})

describe('seeding with an external service', () => {
  /** Seeds a user with an app through an external service, and returns the stored app secrets. */
  async function seedOutside(username: string, mfa: ExternalService | undefined) {
    const { path: folder, remove } = temporaryFolder()
    onTestFinished(remove)
    const { seedUsers, ...rest } = vault.seeding
    const [alice] = seedUsers
    if (!alice) throw new Error('alice')
    const person = { ...alice, username, email: `${username}@vault.example` }
    const secrets = appSecretsIn(folder)
    const context = { ...rest, service: undefined, seedUsers: [person], external: mfa && { mfa, secrets } }
    return { done: await seed(context), again: await seed(context), kept: await secrets.read(), alice }
  }

  it('sets up an app over HTTP, whose current code signs in, and stores its secret', async () => {
    const { service } = vault.seeding
    if (!service) throw new Error('service')
    const { key } = await service.operator('tests').createKey('default', { mode: 'live' })
    const server = service.api.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    // This dialect sends the account's name, by which Vault's own service in this process knows ada.
    const client = mfaClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key, dialect: 'countersign' })
    const { done, again, kept } = await seedOutside('ada', client)
    await client.close()
    server.close()

    const secret = kept.ada ?? ''
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(done).toEqual(['ada was added', `ada has an authenticator app with the secret ${secret}`])
    expect(again).toEqual([])
    const ada = vault.browser()
    await ada.post('/login').send({ username: 'ada', password: 'alice-opens-vault' }).expect(200)
    await verify(ada, appCode(secret, Date.now()), { factor: 'app' }).expect(200)
  })

  it('uses the documented app with a service that returns no secret and accepts its code', async () => {
    const codes: string[] = []
    const shown = () => appCode(vault.seeding.seedUsers[0]?.appSecret ?? '', Date.now() - 30_000)
    const before = shown()
    const { done, kept, alice } = await seedOutside('eve', {
      enrollApp: async () => ({ outcome: 'prepared', qr: 'data:image/png;base64,AAAA' }),
      verify: async ({ code }) => {
        codes.push(code)
        return { outcome: 'valid' }
      },
    })
    expect([[before], [shown()]]).toContainEqual(codes)
    expect(done[1]).toBe(`eve has an authenticator app with the secret ${alice.appSecret}`)
    expect(kept).toEqual({})
  })

  const refused = { outcome: 'refused', refusal: { reason: 'method_off' } } as const
  const down = async () => {
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'The MFA service is down.')
  }

  it.each<[string, ExternalService | undefined, RegExp]>([
    ['there is no service', undefined, /set it up at/],
    [
      'it refuses the request',
      { enrollApp: async () => refused, verify: async () => refused },
      /set it up at/,
    ],
    [
      'it is down',
      { enrollApp: down, verify: down },
      /The MFA service is down. Run `npm run seed` to try again\.$/,
    ],
  ])('reports it and continues when %s', async (what, mfa, why) => {
    const name = what.replaceAll(' ', '-')
    const { done, again } = await seedOutside(name, mfa)
    expect(done[0]).toBe(`${name} was added`)
    expect(done[1]).toMatch(new RegExp(`^no authenticator app yet for ${name}: .*${why.source}`))
    expect(again).toEqual(done.slice(1))
  })

  it('calls a service that is down once, not for each user', async () => {
    let asked = 0
    const enrollApp = async () => {
      asked++
      return down()
    }
    const { seedUsers, ...rest } = vault.seeding
    const two = seedUsers.slice(0, 2).map((person) => {
      const username = `${person.username}-again`
      return { ...person, username, email: `${username}@vault.example`, appSecret: 'A'.repeat(32) }
    })
    const external = { mfa: { enrollApp, verify: down }, secrets: appSecretsIn('nowhere') }
    const done = await seed({ ...rest, service: undefined, seedUsers: two, external })
    expect(asked).toBe(1)
    expect(done.at(-1)).toMatch(
      /^no authenticator app yet for alice-again, bob-again: The MFA service is down/,
    )
  })
})
