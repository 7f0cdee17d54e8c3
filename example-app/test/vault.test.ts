import supertest from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { createApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { type Browser, openTestVault, signIn, signInBob, type TestVault, withdraw } from './kit.js'

let vault: TestVault
let bob: Browser
beforeAll(async () => {
  vault = await openTestVault()
  bob = await signInBob(vault)
})
afterAll(() => vault.close())

const BOB = { method: 'sms', to: '+12025550122' } as const

describe('the vault', () => {
  it('requires a sign-in', async () => {
    const answer = await vault.browser().get('/vault').expect(401)
    expect(answer.type).toBe('application/problem+json')
    expect(answer.body.code).toBe('sign_in_required')
    const withdrawal = await vault.browser().post('/vault/withdraw').send({ amount: 1 }).expect(401)
    expect(withdrawal.body.code).toBe('sign_in_required')
  })

  it('shows the owner a page with balance and movements, which is not cached', async () => {
    const page = await bob.get('/vault').accept('text/html').expect(200)
    expect(page.text).toContain('$1,200')
    expect(page.text).toContain('Salary')
    expect(page.headers['cache-control']).toBe('no-store')
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  })

  it('pays a withdrawal that a factor approved, and exactly that one (R121)', async () => {
    const paid = await withdraw(vault, bob, 100, BOB)
    expect([paid.status, paid.body]).toEqual([200, { balance: 1100 }])
    await bob.get('/vault').expect(200, { balance: 1100 })
    const again = await bob.post('/vault/withdraw').send({ amount: 100 }).expect(401)
    expect(again.body).toMatchObject({
      code: 'step_up_required',
      approval: { lines: [{ label: 'Withdraw', value: '$100' }] },
    })
    const message = (await vault.context.inbox?.messages({ to: BOB.to }))?.[0]?.text
    expect(message).toMatch(/^Withdraw: \$100\n\d{6} is your Vault code to confirm exactly this\./)
  })

  it('rejects what is no amount', () =>
    everyCase([[0], [-5], [1.5], ['1e2'], [''], ['ten'], [null], [[1]], [1e12], [true]], async ([amount]) => {
      const { body: before } = await bob.get('/vault')
      const answer = await bob.post('/vault/withdraw').send({ amount }).expect(400)
      expect(answer.body.code).toBe('invalid_request')
      await bob.get('/vault').expect(200, before)
    }))

  it('does not pay more than the balance', async () => {
    const answer = await withdraw(vault, bob, 99_999, BOB)
    expect([answer.status, answer.body.code]).toEqual([400, 'insufficient_funds'])
  })

  it('does not pay the same approval twice to concurrent withdrawals (R122)', async () => {
    const { balance } = (await bob.get('/vault')).body
    const asked = await bob.post('/vault/withdraw').send({ amount: 10 }).expect(401)
    const approval = asked.body.approval.id
    await bob.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
    const code = await vault.codeSentTo(BOB.to)
    await bob.post('/mfa/verify').send({ code, approval }).expect(200)
    const all = await Promise.all(
      Array.from({ length: 10 }, () => bob.post('/vault/withdraw').send({ amount: 10 })),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await bob.get('/vault')).body.balance).toBe(balance - 10)
  })

  it('does not pay a user without a second factor, and says what to do', async () => {
    const nina = vault.browser()
    await signIn(nina, 'nina')
    const answer = await nina.post('/vault/withdraw').send({ amount: 1 }).expect(403)
    expect(answer.body.code).toBe('enrollment_required')
    await nina.get('/vault').expect(200, { balance: 640 })
  })

  it('redirects a GET of the withdrawal path to the vault page', async () => {
    await bob.get('/vault/withdraw').expect(303).expect('location', '/vault')
  })

  it('offers a blocked withdrawal again after the second factor, and pays it once, at a click', async () => {
    const mallory = vault.browser()
    const code = () => vault.codeSentTo('+12025550144')
    await signIn(mallory, 'mallory')
    await challenge(mallory, 'sms').expect(200)
    await verify(mallory, await code()).expect(200)
    const { balance } = (await mallory.get('/vault')).body

    const page = (path: string) => mallory.get(path).accept('text/html')
    const form = (path: string, fields: object) =>
      mallory.post(path).accept('text/html').type('form').send(fields).expect(303)
    await form('/vault/withdraw', { amount: '7' }).expect('location', '/mfa')
    const asked = await page('/mfa').expect(200)
    const approval = /name="approval" value="([^"]+)"/.exec(asked.text)?.[1]
    await form('/mfa/challenge', { factor: 'sms', approval })
    await form('/mfa/verify', { factor: 'sms', approval, code: await code() }).expect(
      'location',
      '/mfa/resume',
    )
    const offer = await page('/mfa/resume').expect(200)
    expect(offer.text).toContain('action="/vault/withdraw"')
    expect(offer.text).toContain('<input type="hidden" name="amount" value="7">')
    await mallory.get('/vault').expect(200, { balance })
    await form('/vault/withdraw', { amount: '7' }).expect('location', '/vault')
    await mallory.get('/vault').expect(200, { balance: balance - 7 })
    await page('/mfa/resume').expect(303)
  })
})

describe('requests from other sites', () => {
  /** The same vault with other environment variables. */
  const appIn = (env: Record<string, string>) => createApp({ ...vault.context, config: readConfig(env) })
  const post = (headers: Record<string, string>, app = vault.app) =>
    supertest(app).post('/login').accept('json').set(headers).send({ username: 'x', password: 'y' })

  it('are refused with the headers of another site', () =>
    everyCase(
      [
        [{ 'sec-fetch-site': 'cross-site' }],
        [{ 'sec-fetch-site': 'same-site' }],
        [{ origin: 'https://evil.example' }],
        [{ origin: 'null' }],
        [{ origin: '' }],
        [{ host: 'vault.example', origin: 'https://vault.example' }],
        [{ host: 'vault.example', origin: 'http://vault.example:8080' }],
        [{ host: 'vault.example', origin: 'https://vault.example', 'x-forwarded-proto': 'https' }],
      ],
      async ([headers]) => {
        const answer = await post(headers).expect(403)
        expect(answer.body.code).toBe('cross_site')
      },
    ))

  it('do not include those from our own pages', async () => {
    await post({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }).expect(401)
    await post({ host: 'vault.example', origin: 'http://vault.example' }).expect(401)
    await post({ host: 'vault.example:8080', origin: 'http://vault.example:8080' }).expect(401)
    await post({ origin: 'http://localhost:3000' }).expect(401)
    await post({}).expect(401)
  })

  it('are recognized by the scheme too, behind a trusted proxy', async () => {
    const behind = appIn({ TRUST_PROXY: '1' })
    const proxied = { host: 'vault.example', 'x-forwarded-proto': 'https' }
    await post({ ...proxied, origin: 'https://vault.example' }, behind).expect(401)
    await post({ ...proxied, origin: 'http://vault.example' }, behind).expect(403)
    const renamed = { ...proxied, host: 'internal:3000', 'x-forwarded-host': 'vault.example' }
    await post({ ...renamed, origin: 'https://vault.example' }, behind).expect(401)
    await post({ ...renamed, origin: 'https://internal:3000' }, behind).expect(403)
  })

  it('are recognized by PUBLIC_URL behind a proxy that is not trusted', async () => {
    const known = appIn({ PUBLIC_URL: 'https://vault.example' })
    await post({ host: 'internal:3000', origin: 'https://vault.example' }, known).expect(401)
    await post({ host: 'vault.example', origin: 'http://vault.example' }, known).expect(403)
  })
})
