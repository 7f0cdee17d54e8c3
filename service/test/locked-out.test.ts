import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../src/cli/program.js'
import { createService } from '../src/run/create-service.js'
import type { CountersignService } from '../src/run/service.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { openConsole, post, settingsForm, textOf } from './console/kit.js'
import { appCode, freshEmail, SECRET } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'
import { RELYING_PARTY, registerSoftwareKey } from './software-key.js'

type Mfa = CountersignService['mfa']

/** Accounts with a key: one has nothing else, one has an app, one has backup codes. Another account has an app and no key. */
async function addUsers(mfa: Mfa) {
  for (const [account, also] of [
    ['only-key', undefined],
    ['with-app', 'app'],
    ['with-codes', 'codes'],
    ['only-app', 'app'],
  ] as const) {
    const user = { account, contact: freshEmail() }
    if (account !== 'only-app') await registerSoftwareKey(mfa, user, 'passkey')
    if (also === 'codes') await mfa.createBackupCodes?.(user)
    if (also !== 'app') continue
    const prepared = await mfa.enrollApp(user)
    if (prepared.outcome !== 'prepared') throw new Error('No app was prepared.')
    const code = appCode(prepared.secret ?? '')
    await mfa.verify({ ...user, method: 'app', kind: 'confirm', code })
  }
}

const FOUND = '1 user has only passkeys'
const ONLY_APP = '1 user has only an authenticator app'

// On PostgreSQL, since every command opens the database anew, which takes PGlite more than a second.
describe.skipIf(postgresMissing)('users whose only factors are withheld (R132)', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  const env = {
    get DATABASE_URL() {
      return postgres.url
    },
    SERVICE_SECRET: SECRET,
    SERVICE_API_KEY: 'key_for_tests_0123456789',
    SERVICE_DELIVERY: 'inbox',
  }
  const ofRelyingParty = {
    SERVICE_RELYING_PARTY_ID: RELYING_PARTY.id,
    SERVICE_RELYING_PARTY_ORIGINS: RELYING_PARTY.origins.join(','),
  }
  const log: LogEvent[] = []
  const open = (relyingParty?: { id: string; origins: string[] }) =>
    createService({
      databaseUrl: postgres.url,
      secret: SECRET,
      delivery: 'inbox',
      transcriber: 'off',
      relyingParty,
      logger: (event) => void log.push(event),
    })
  const cli = async (given: Readonly<Record<string, string>>, ...args: string[]) => {
    const printed: string[] = []
    const print = (text: string) => void printed.push(text)
    const code = await run(args, { env: given, ask: undefined, out: print, err: print })
    return { code, text: printed.join('\n') }
  }
  const warnings = () => log.splice(0).filter(({ event }) => event === 'users.locked_out')

  beforeAll(async () => {
    postgres = await startPostgres()
    const service = await open({ id: RELYING_PARTY.id, origins: [...RELYING_PARTY.origins] })
    await addUsers(service.mfa)
    await service.close()
  })
  afterAll(() => postgres.stop())

  test('are not warned about while their keys can be used', async () => {
    expect(warnings()).toEqual([])
    const service = await open({ id: RELYING_PARTY.id, origins: [...RELYING_PARTY.origins] })
    await service.close()
    expect(warnings()).toEqual([])
    expect((await cli({ ...env, ...ofRelyingParty }, 'doctor')).text).not.toContain('only passkeys')
  })

  test('are warned about by the start and the doctor when the relying party is lost', async () => {
    const service = await open()
    const contact = freshEmail()
    expect(await service.mfa.factorsOf?.({ account: 'only-key', contact })).toMatchObject({
      existing: [{ method: 'passkey', usable: false }],
      offeredKeys: [],
    })
    expect(await service.mfa.keys?.list({ account: 'only-key', contact })).toMatchObject({
      keys: [{ method: 'passkey' }],
    })
    await service.close()
    expect(warnings()).toEqual([
      expect.objectContaining({
        level: 'warn',
        application: 'default',
        detail: expect.stringContaining(FOUND),
      }),
    ])
    const { text } = await cli(env, 'doctor')
    expect(text).toContain('security keys')
    expect(text).toContain(FOUND)
  })

  test('are counted by a command that would lock them out, which is refused without --lock-out', async () => {
    const change = ['app', 'settings', 'default', 'methods=app,email,sms,security-key']
    const refused = await cli(env, ...change)
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining(FOUND)])
    expect(refused.text).toContain('--lock-out')
    expect((await cli(env, 'app', 'settings', 'default')).text).toMatch(/methods +app,email,sms,whatsapp/)
    // Nobody is locked out by these.
    expect(
      (await cli(env, 'app', 'settings', 'default', 'methods=app,email,sms,security-key,passkey')).code,
    ).toBe(0)
    expect((await cli(env, ...change, '--lock-out')).code).toBe(0)
    expect((await cli({ ...env, ...ofRelyingParty }, 'doctor')).text).toContain(FOUND)
    // They are locked out already.
    expect((await cli(env, 'app', 'settings', 'default', 'methods=app,email')).code).toBe(0)
    expect((await cli(env, 'app', 'settings', 'default', '--unset', 'methods')).code).toBe(0)
  })

  test('are counted, too, whose authenticator apps are switched off', async () => {
    const given = { ...env, ...ofRelyingParty }
    const change = ['app', 'settings', 'default', 'methods=email,sms,passkey']
    const refused = await cli(given, ...change)
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining(ONLY_APP)])
    expect((await cli(given, ...change, '--lock-out')).code).toBe(0)
    const { text } = await cli(given, 'doctor')
    expect(text).toContain(ONLY_APP)
    expect(text).not.toContain('only passkeys')
    // The account with a passkey and an app loses both.
    const both = await cli(given, 'app', 'settings', 'default', 'methods=email')
    expect(both.text).toContain('2 users have only passkeys')
    expect((await cli(given, 'app', 'settings', 'default', '--unset', 'methods')).code).toBe(0)
  })

  test('are counted by the operator in code, and locked out only with lockOut', async () => {
    const service = await open({ id: RELYING_PARTY.id, origins: [...RELYING_PARTY.origins] })
    const ann = service.operator('ann')
    const off = { set: { methods: ['app' as const, 'email' as const] } }
    expect(await ann.usersLockedOutBy('default', off)).toEqual([
      { method: 'passkey', users: 1, mayBeMore: false },
    ])
    await expect(ann.changeSettings('default', off)).rejects.toThrow(FOUND)
    const other = { set: { relyingPartyId: 'other.example' } }
    await expect(ann.changeSettings('default', other)).rejects.toThrow(FOUND)
    await ann.changeSettings('default', { set: { lockDuration: 3_600_000 } })
    await ann.changeSettings('default', { ...off, lockOut: true })
    expect(await ann.usersLockedOutBy('default', off)).toEqual([])
    await ann.changeSettings('default', { unset: ['methods'] })
    await service.close()
  })
})

describe('the settings page of the console, for a change that locks users out (R132)', () => {
  let console: Awaited<ReturnType<typeof openConsole>>
  beforeAll(async () => {
    console = await openConsole({})
    const { origins } = RELYING_PARTY
    const set = { relyingPartyId: RELYING_PARTY.id, relyingPartyOrigins: [...origins] }
    await console.service.operator('ann').changeSettings('default', { set })
    await addUsers(console.service.mfa)
  })
  afterAll(() => console.service.close())

  test('says how many, and saves only with the confirmation', async () => {
    const { browser } = await console.signUp('admin')
    const path = '/console/applications/default'
    const id = async () =>
      (await console.service.operator('ann').showSettings('default')).find(
        ({ name }) => name === 'relyingPartyId',
      )?.value
    const form = { ...(await settingsForm(browser, 'default')), relyingPartyId: '' }
    const asked = await post(browser, path, form).expect(422)
    expect(textOf(asked.text)).toContain(FOUND)
    expect(asked.text).toContain('name="lockOut"')
    expect(await id()).toBe(RELYING_PARTY.id)
    const shown = await browser.get(path).expect(200)
    expect(shown.text).not.toContain('name="lockOut"')
    await post(browser, path, { ...form, lockOut: 'on' }).expect(200)
    expect(await id()).toBe('')
  })
})
