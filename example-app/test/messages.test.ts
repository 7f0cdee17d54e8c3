import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seedAppCode } from '../src/seed-apps.js'
import { expectStatus, openTestVault, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const [MAILBOX, TELEPHONE] = ['alice@vault.example', '+12025550111']

/** All that has reached alice by mail and telephone. */
async function messages(): Promise<string[]> {
  const found = await Promise.all(
    [MAILBOX, TELEPHONE].map(async (to) => (await vault.context.inbox?.messages({ to })) ?? []),
  )
  return found.flat().map(({ text }) => text)
}

it('one event is one message: an app, backup codes, the use of one', async () => {
  const alice = vault.browser()
  // Either contact has proven hers then, so that the service could write to it.
  for (const [factor, to] of [
    ['sms', TELEPHONE],
    ['email', MAILBOX],
  ] as const) {
    await signIn(alice, 'alice').then(expectStatus(200))
    await alice.post('/mfa/challenge').send({ factor }).then(expectStatus(200))
    await alice
      .post('/mfa/verify')
      .send({ code: await vault.codeSentTo(to) })
      .then(expectStatus(200))
  }
  // Only the app, the strongest factor of the account, can change factors.
  const shown = seedAppCode('alice', Date.now() - 30_000)
  await alice.post('/mfa/verify').send({ factor: 'app', code: shown }).then(expectStatus(200))
  const before = await messages()

  const { secret } = (await alice.post('/mfa/enroll-app').send({}).then(expectStatus(200))).body
  const code = new TOTP({ secret }).generate()
  await alice.post('/mfa/enroll-app/confirm').send({ code }).then(expectStatus(200))
  await alice.post('/mfa/backup').send({}).then(expectStatus(200))
  const isSet = /^(?:\w{4}-){3}\w{4}$/m
  const backup = isSet.exec(
    (await messages()).find((text) => !before.includes(text) && isSet.test(text)) ?? '',
  )
  const other = vault.browser()
  await signIn(other, 'alice').then(expectStatus(200))
  await other.post('/mfa/verify').send({ factor: 'backup', code: backup?.[0] }).then(expectStatus(200))

  // What the service wrote besides has reached her before what it writes now.
  await signIn(other, 'alice').then(expectStatus(200))
  await other.post('/mfa/challenge').send({ factor: 'sms' }).then(expectStatus(200))
  const since = (await messages()).filter((text) => !before.includes(text))
  const about = [/in a new way/, isSet, /backup code was used to sign in/, /\b\d{6}\b is your/]
  expect(about.map((what) => since.filter((text) => what.test(text)).length)).toEqual([1, 1, 1, 1])
  expect(since).toHaveLength(4)
})
