import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { challenge, verify } from '../../test/kit/sign-in.js'
import { seedAppCode } from '../src/seed-apps.js'
import { expectStatus, openTestVault, signIn, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const [MAILBOX, PHONE] = ['alice@vault.example', '+12025550111']

/** All emails and text messages to alice. */
async function messages(): Promise<string[]> {
  const found = await Promise.all(
    [MAILBOX, PHONE].map(async (to) => (await vault.context.inbox?.messages({ to })) ?? []),
  )
  return found.flat().map(({ text }) => text)
}

it('a new app, new backup codes and a used backup code cause one message each, and so does a new browser', async () => {
  const alice = vault.browser()
  // Then both contacts are verified, so that the service could send messages to them.
  for (const [factor, to] of [
    ['sms', PHONE],
    ['email', MAILBOX],
  ] as const) {
    await signIn(alice, 'alice').then(expectStatus(200))
    await challenge(alice, factor).then(expectStatus(200))
    await verify(alice, await vault.codeSentTo(to)).then(expectStatus(200))
  }
  // Only the app, the strongest factor of the account, can change factors.
  const shown = seedAppCode('alice', Date.now() - 30_000)
  await verify(alice, shown, { factor: 'app' }).then(expectStatus(200))
  const before = await messages()

  const { body } = await alice.post('/mfa/enroll-app').send({}).then(expectStatus(401))
  const approves = { code: seedAppCode('alice', Date.now()), factor: 'app', approval: body.approval.id }
  await alice.post('/mfa/verify').send(approves).then(expectStatus(200))
  const { secret } = (await alice.post('/mfa/enroll-app').send({}).then(expectStatus(200))).body
  const code = new TOTP({ secret }).generate()
  await alice.post('/mfa/enroll-app/confirm').send({ code }).then(expectStatus(200))
  await alice.post('/mfa/backup').send({}).then(expectStatus(200))
  const isCodeSet = /^(?:\w{4}-){3}\w{4}$/m
  const backup = isCodeSet.exec(
    (await messages()).find((text) => !before.includes(text) && isCodeSet.test(text)) ?? '',
  )
  const other = vault.browser()
  await signIn(other, 'alice').then(expectStatus(200))
  await verify(other, backup?.[0], { factor: 'backup' }).then(expectStatus(200))

  // Any other message of the service arrives before this code.
  await signIn(other, 'alice').then(expectStatus(200))
  await challenge(other, 'sms').then(expectStatus(200))
  const since = (await messages()).filter((text) => !before.includes(text))
  const about = [
    /in a new way/,
    isCodeSet,
    /backup code was used to sign in/,
    /in a browser that was not used for it before/,
    /\b\d{6}\b is your/,
  ]
  expect(about.map((what) => since.filter((text) => what.test(text)).length)).toEqual([1, 1, 1, 1, 1])
  expect(since).toHaveLength(5)
})
