import { softwareAuthenticator } from 'countersign/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../../test/kit/clock.js'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { appCode } from '../src/app-code.js'
import { SEED_USERS } from '../src/seed-users.js'
import { type Browser, expectStatus, openTestVault, passwordOf, signIn, type TestVault } from './kit.js'

/*
 * The attacker knows the password and reads the text messages of a customer. A sign-in needs no more than that; a change of
 * phone number or password needs the strongest factor of the customer.
 */

const PAGE = { origin: 'http://localhost:3000' }
const STOLEN = '+12025550166'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault({ PUBLIC_URL: PAGE.origin, VAULT_STAFF: 'alice,otto' })
})
afterAll(() => vault.close())

async function signInByText(username: string): Promise<Browser> {
  const browser = vault.browser()
  await signIn(browser, username).then(expectStatus(200))
  await challenge(browser, 'sms').then(expectStatus(200))
  await verify(browser, await codeSentTo(username), { factor: 'sms' }).then(expectStatus(200))
  return browser
}

function codeSentTo(username: string) {
  return vault.codeSentTo(SEED_USERS.find((user) => user.username === username)?.phone ?? '')
}

/** The customer adds a passkey, whose response to a challenge is returned. */
async function addPasskey(browser: Browser, proof: () => object | Promise<object>) {
  const device = softwareAuthenticator()
  const options = () => browser.post('/mfa/keys/options').send({ method: 'passkey' })
  const { body: asked } = await options().expect(401)
  const approval = asked.approval.id
  await browser.post('/mfa/challenge').send({ factor: asked.factors[0].method, approval }).expect(200)
  const shown = { ...(await proof()), approval }
  await browser.post('/mfa/verify').send(shown).expect(200)
  const prepared = await options().expect(200)
  const response = device.create(prepared.body.publicKey, PAGE)
  await browser.post('/mfa/keys').send({ method: 'passkey', response }).expect(200)
  return async (challenged: Browser) => {
    const { body } = await challenge(challenged, 'passkey').expect(200)
    const shown = device.get(body.publicKey, PAGE)
    await challenged.post('/mfa/verify').send({ factor: 'passkey', response: shown }).expect(200)
  }
}

/** Tries every route of Vault that changes how the customer signs in. */
async function expectRefusals(attacker: Browser, username: string, method: string) {
  const requests = [
    () => attacker.post('/phone').send({ phone: STOLEN }),
    () => attacker.post('/phone/confirm').send({ code: '123456' }),
    () => attacker.post('/password').send({ current: passwordOf(username), next: 'a stolen vault' }),
  ]
  for (const request of requests) {
    const { body } = await request().expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ method }], backup: false })
    expect(body.factors).toHaveLength(1)
  }
  for (const path of ['/phone', '/password']) {
    await attacker.get(path).accept('text/html').expect(303).expect('location', '/mfa')
  }
  const user = await vault.context.users.findByName(username)
  expect(user?.phone).not.toBe(STOLEN)
  expect(await vault.context.users.signIn(username, passwordOf(username))).toBeTruthy()
  expect(await vault.context.inbox?.messages({ to: STOLEN })).toEqual([])
}

describe('an attacker with the password and the phone of a customer (R136)', () => {
  it('changes neither the phone number nor the password of one who has a passkey', async () => {
    const showPasskey = await addPasskey(await signInByText('bob'), async () => ({
      code: await codeSentTo('bob'),
    }))
    const attacker = await signInByText('bob')
    await expectRefusals(attacker, 'bob', 'passkey')

    const owner = await signInByText('bob')
    await showPasskey(owner)
    await owner.post('/phone').send({ phone: '+12025550177' }).expect(200)
    await expectRefusals(attacker, 'bob', 'passkey')
    await owner
      .post('/phone/confirm')
      .send({ code: await vault.codeSentTo('+12025550177') })
      .expect(200)
    expect((await vault.context.users.findByName('bob'))?.phone).toBe('+12025550177')
  })

  it('changes neither the phone number nor the password of one who has an authenticator app', async () => {
    await expectRefusals(await signInByText('alice'), 'alice', 'app')
  })

  it('resets no account of another customer as staff whose strongest factor they cannot show', async () => {
    const attacker = await signInByText('alice')
    const order = { username: 'bob', reason: 'lost' }
    expect((await attacker.post('/admin/resets').send(order).expect(401)).body).toMatchObject({
      code: 'step_up_required',
      factors: [{ method: 'app' }],
    })
  })

  it('resets no account with the authenticator app of staff who have a passkey', async () => {
    const secret = SEED_USERS.find(({ username }) => username === 'otto')?.appSecret ?? ''
    const otto = vault.browser()
    await signIn(otto, 'otto').then(expectStatus(200))
    await verify(otto, appCode(secret, Date.now() - 30_000), { factor: 'app' }).then(expectStatus(200))
    const order = { username: 'bob', reason: 'lost' }
    await otto.post('/admin/resets').send(order).expect(200)
    await addPasskey(otto, () => ({ code: appCode(secret, Date.now()), factor: 'app' }))
    // The code that the attacker saw is the next one of the app.
    stopClock().move(MINUTE)
    const attacker = vault.browser()
    await signIn(attacker, 'otto').then(expectStatus(200))
    await verify(attacker, appCode(secret, Date.now()), { factor: 'app' }).then(expectStatus(200))
    const { body } = await attacker.post('/admin/resets').send(order).expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ method: 'passkey' }] })
  })
})
