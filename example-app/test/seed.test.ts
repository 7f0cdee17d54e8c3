import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seed } from '../src/seed.js'
import { seedAppCode } from '../src/seed-apps.js'
import { openTestVault, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

describe('seeding', () => {
  it('changes nothing the second time', async () => {
    const count = await vault.context.users.count()
    expect(await seed(vault.seeding)).toEqual([])
    expect(await vault.context.users.count()).toBe(count)
  })

  it('gives alice an app whose present code signs her in at once', async () => {
    const alice = vault.browser()
    await signIn(alice, 'alice')
    const page = await alice.get('/mfa').expect(200)
    expect(page.body.factors.map(({ method }: { method: string }) => method)).toEqual(['app', 'sms', 'email'])
    const code = seedAppCode('alice', Date.now())
    await alice.post('/mfa/verify').send({ factor: 'app', code }).expect(200)
    expect((await alice.get('/me')).body.mfa.amr).toEqual(['pwd', 'otp', 'mfa'])
  })

  it('gives alice backup codes by email, each good for one sign-in', async () => {
    const { body } = await vault.browser().get('/inbox').query({ to: 'alice@vault.example' })
    const mail = body.messages.find(({ text }: { text: string }) => /backup/i.test(text))
    const code = /^\W*([0-9A-Z]{4}(?:-[0-9A-Z]{4})+)\W*$/m.exec(mail.text)?.[1]
    expect(code).toBeDefined()
    for (const status of [200, 401]) {
      const alice = vault.browser()
      await signIn(alice, 'alice')
      await alice.post('/mfa/verify').send({ factor: 'backup', code }).expect(status)
    }
  })

  it('says so when there is no service here to bind an app with', async () => {
    const { people, ...rest } = vault.seeding
    const person = { ...people[0], username: 'ada', email: 'ada@vault.example' }
    const done = await seed({ ...rest, service: undefined, people: [person as (typeof people)[number]] })
    expect(done[0]).toBe('ada was added')
    expect(done[1]).toMatch(/^ada has no authenticator app/)
  })
})
