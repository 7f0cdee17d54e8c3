import { createHash } from 'node:crypto'
import notp from 'notp'
import { Secret, TOTP } from 'otpauth'
import { authenticator } from 'otplib'
import speakeasy from 'speakeasy'
import { describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { createService } from '../../src/run/create-service.js'
import { describeOnBothDatabases } from '../both-databases.js'
import { appCode, SECRET } from '../kit.js'
import { EMPTY, invalid, lines, moved, valid } from './moved.js'

const STRONG = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const OTHER = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'
const WEAK = 'JBSWY3DPEHPK3PXP'

/*
 * Made by better-auth 1.7.25, whose `symmetricEncrypt` encrypted this secret and these backup codes with this secret of the app:
 * once as it is, once by version 2 of several secrets. The URI is the one that its `createOTP` made for the user's app.
 */
const BETTER_AUTH = {
  secret: 'better-auth-secret-for-tests-0123456789',
  encrypted:
    '62adf2cb06cedae3b112751739020210f05a7ce15dde13f0b5ccd78622ab91e1d8b9f2afdd5bd6ef9fe88886d224a2d492c1f771a691db437f2b75f2aa1b9dc9109cb58da9ce0879',
  versioned:
    '$ba$2$9f0fe8064e6e9158097e0cb3bde9ac070e920d2f3a65b6973240b59579a220514f81b6f54b9df4ed34dac9f3980a97ce6720ba4729421dbf5a4acdb2883d9224eaa3805f6b50d556',
  base32:
    'fe497ef6f611e72844bbecdbf81eec20678ac90402ba4675de8600315debef36d8833fbebc21e8f01bde7bf73ba26384f87de4231320194019d94c55fde6e4589c67de4609e7271ee4aaaaac063502',
  codes:
    'c33650e839bd3b44fd52d3ec36b67261cb20ac5a2453cb0a14760d689879408bca39f14bade82db6fcb1bd16376a04686f088877d0072825ccef19ebbb2bdab468d5b55954',
  uri: 'otpauth://totp/Vault:ann%40example.com?secret=GFFG62TCORTWKMKWHBBVS22JJFNHIRDYJNPXC5CEIN4VORLMKNQQ&issuer=Vault&digits=6&period=30',
}

/** A user in the export of a Keycloak realm, as `kc.sh export` writes it: the fields of `OTPCredentialModel` in JSON text. */
const keycloakUser = (id: string, otp: object, value: string, ...others: object[]) => ({
  id,
  username: `user-${id}`,
  credentials: [
    { id: 'p', type: 'password', secretData: '{"value":"x","salt":"y"}', credentialData: '{}' },
    {
      id: 'o',
      type: 'otp',
      userLabel: 'phone',
      createdDate: 1700000000000,
      secretData: JSON.stringify({ value }),
      credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, ...otp }),
    },
    ...others,
  ],
})

describeOnBothDatabases((bench) => {
  test('imports what speakeasy made, in every hash, with 6 and 8 digits and steps of 30 and 60 seconds', async () => {
    const { load, enter } = await moved(bench())
    const forms = (['sha1', 'sha256', 'sha512'] as const).flatMap((algorithm) =>
      [6, 8].flatMap((digits) => [30, 60].map((step) => ({ algorithm, digits, step }))),
    )
    const users = forms.map((form, nr) => ({
      account: `u${nr}`,
      ...form,
      secret: speakeasy.generateSecret(),
    }))
    const ascii = speakeasy.generateSecret()
    const rows = [...users, { account: 'ascii', secret: ascii.ascii, encoding: 'ascii' }]
    expect(await load(lines(...rows), { from: 'speakeasy' })).toEqual({ ...EMPTY, imported: 13 })
    await everyCase(users, async ({ account, secret, ...form }) => {
      const token = speakeasy.totp({ secret: secret.base32, encoding: 'base32', ...form })
      expect(await enter(account, token)).toEqual(valid)
      expect(await enter(account, token), 'once').toEqual(invalid)
    })
    expect(await enter('ascii', speakeasy.totp({ secret: ascii.ascii, encoding: 'ascii' }))).toEqual(valid)
  })

  test('imports the 16 characters that otplib makes by default only with a flag, and reports them', async () => {
    const { load, enter, ann } = await moved(bench())
    const secret = authenticator.generateSecret()
    expect(secret).toHaveLength(16)
    const shown = secret.toLowerCase().replace(/(.{4})/g, '$1 ')
    const text = `account,secret\nbob,${shown}\ncarla,${authenticator.generateSecret(20)}`
    const refused = await load(text, { from: 'otplib' })
    expect(refused).toMatchObject({ imported: 1, refused: [{ line: 2, code: 'weak' }], weak: [] })
    const accepted = await load(text, { from: 'otplib', allowWeak: true })
    expect(accepted).toEqual({ ...EMPTY, imported: 1, unchanged: 1, weak: [2] })
    expect(await enter('bob', authenticator.generate(secret))).toEqual(valid)
    const listed = await ann.listAudit({ limit: 1 })
    expect(listed[0]).toMatchObject({ action: 'factors.imported', actor: 'ann' })
  })

  test('imports the keys of passport-totp, which are the characters themselves', async () => {
    const { load, enter } = await moved(bench())
    // The example of passport-totp makes a key of ten characters, and saves it with the period.
    const rows = [
      { account: 'bob', key: 'aB3$fGh9Kl', period: 30 },
      { account: 'carla', key: Buffer.from('a key of twenty byte') },
    ]
    const report = await load(lines(...rows), { from: 'passport-totp', allowWeak: true })
    expect(report).toMatchObject({ imported: 2, refused: [], weak: [1] })
    expect(await enter('bob', notp.totp.gen('aB3$fGh9Kl', {}))).toEqual(valid)
    expect(await enter('carla', notp.totp.gen('a key of twenty byte', {}))).toEqual(valid)
  })

  test('decrypts what better-auth encrypted, with its backup codes, and needs a first code of the user', async () => {
    const { load, enter, redeem } = await moved(bench())
    const { secret, encrypted, versioned, base32, codes, uri } = BETTER_AUTH
    const text = lines(
      { id: 'x', userId: 'bob', secret: encrypted, backupCodes: codes, verified: true },
      { id: 'y', userId: 'carla', secret: versioned, backupCodes: '[]' },
      { id: 'z', userId: 'dan', secret: encrypted, verified: false },
      { id: 'a', user_id: 'erin', secret: base32, backup_codes: null },
    )
    const unknown = await load(text, { from: 'better-auth', secrets: ['another secret of the app'] })
    expect(unknown.refused.map(({ code }) => code)).toEqual([
      'undecryptable',
      'undecryptable',
      'unconfirmed',
      'undecryptable',
    ])
    const report = await load(text, { from: 'better-auth', secrets: ['a new secret', secret] })
    expect(report).toMatchObject({ imported: 3, backupCodes: 1, refused: [{ line: 3, code: 'unconfirmed' }] })
    const app = new TOTP({ secret: Secret.fromBase32(new URL(uri).searchParams.get('secret') ?? '') })
    expect(await enter('bob', app.generate())).toEqual(valid)
    expect(await enter('carla', app.generate())).toEqual(valid)
    expect(await enter('erin', appCode(STRONG))).toEqual(valid)
    expect(await redeem('bob', 'aBcDe-FgH1j')).toEqual(valid)
    expect(await redeem('bob', 'aBcDe-FgH1j'), 'once').toEqual(invalid)
    expect(await redeem('bob', 'Zz9Yy8xXw7')).toEqual(valid)
  })

  // https://auth0.com/docs/secure/multi-factor-authentication: the schema of imported MFA enrollments.
  test('imports the enrollments of Auth0, by its id or by a contact', async () => {
    const { load, enter, mfa } = await moved(bench())
    const users = [
      { user_id: 'auth0|1', email: 'bob@example.com', mfa_factors: [{ phone: { value: '+447700900123' } }] },
      { user_id: 'auth0|2', email: 'Carla@example.com', mfa_factors: [{ totp: { secret: OTHER } }] },
      { user_id: 'auth0|3', email: 'dan@example.com' },
    ]
    const text = JSON.stringify(users)
    expect(await load(text, { from: 'auth0' })).toEqual({ ...EMPTY, imported: 1, absent: 2 })
    expect(await enter('auth0|2', appCode(OTHER))).toEqual(valid)
    await load(text, { from: 'auth0', userField: 'email' })
    const contact = { kind: 'email', email: 'carla@example.com' } as const
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code: appCode(OTHER) })).toEqual(valid)
  })

  test('imports users of a Keycloak realm with their recovery codes, whose hash it verifies', async () => {
    const { load, enter, redeem } = await moved(bench())
    // RecoveryAuthnCodesUtils.hashRawCode: the SHA-512 of the code in base64. Codes have 12 capital letters and digits.
    const hash = (code: string) => createHash('sha512').update(code).digest('base64')
    const recovery = (algorithm: string) => ({
      type: 'recovery-authn-codes',
      credentialData: JSON.stringify({ hashIterations: 1, algorithm, totalCodes: 2, remainingCodes: 2 }),
      secretData: JSON.stringify({
        codes: ['AB0OIL1Z9XYW', 'QWERTY123456'].map((code, index) => ({
          number: index + 1,
          encodedHashedValue: hash(code),
        })),
      }),
    })
    const raw = 'raw secret of Keycloak'
    const realm = {
      realm: 'vault',
      users: [
        keycloakUser('1', { algorithm: 'HmacSHA1' }, raw, recovery('RS512')),
        keycloakUser('2', { algorithm: 'HmacSHA512', digits: 8, period: 60 }, raw, recovery('argon2')),
        keycloakUser('3', { algorithm: 'HmacSHA256', secretEncoding: 'BASE32' }, OTHER),
        keycloakUser('4', { subType: 'hotp', algorithm: 'HmacSHA1', counter: 3 }, raw),
        { id: '5', username: 'without', credentials: [] },
      ],
    }
    const report = await load(JSON.stringify(realm, null, 2), { from: 'keycloak' })
    expect(report).toMatchObject({
      ...{ imported: 3, absent: 1, backupCodes: 1, weak: [] },
      refused: [{ line: 4, code: 'counter_based' }],
      remarks: [{ line: 2, code: 'codes_unverifiable' }],
    })
    const secret = new Secret({ buffer: new Uint8Array(Buffer.from(raw)).buffer })
    expect(await enter('1', new TOTP({ secret }).generate())).toEqual(valid)
    const long = new TOTP({ secret, algorithm: 'SHA512', digits: 8, period: 60 })
    expect(await enter('2', long.generate())).toEqual(valid)
    const base32 = new TOTP({ secret: Secret.fromBase32(OTHER), algorithm: 'SHA256' })
    expect(await enter('3', base32.generate())).toEqual(valid)
    expect(await redeem('1', 'ab00111z-9xyw')).toEqual(valid)
    expect(await redeem('1', 'AB0OIL1Z9XYW'), 'once').toEqual(invalid)
    expect(await redeem('1', 'QWERTY123450')).toEqual(invalid)
    // As a user mistakes them, and as the plugin sends them: digits for the letters that look like them.
    expect(await redeem('1', 'QWERTYL23456')).toEqual(valid)
  })

  test('changes nothing in a dry run, and reports the same as the import', async () => {
    const { load, ann, id } = await moved(bench())
    const text = `account,secret,backup_codes\nbob,${STRONG},ABCD-2345 WXYZ-6789\ncarla,short,\nbob,${OTHER},`
    const planned = await load(text, { from: 'csv', dryRun: true })
    expect(planned).toMatchObject({
      ...{ imported: 1, backupCodes: 1 },
      refused: [
        { line: 3, code: 'too_weak' },
        { line: 4, code: 'other_app' },
      ],
    })
    const page = () => ann.listUsers({ application: id, mode: 'live', limit: 10 })
    expect((await page()).users).toEqual([])
    expect(await load(text, { from: 'csv' })).toEqual(planned)
    expect((await page()).users).toMatchObject([
      { account: 'bob', authenticatorApp: true, backupCodesLeft: 2 },
    ])
  })

  test('adds nothing twice, continues after an interruption, and keeps the app that an account has', async () => {
    const { load, mfa, redeem } = await moved(bench())
    const row = (account: string, secret = STRONG) => `${account},${secret},CODE-0001-2345`
    const heading = 'account,secret,backup_codes'
    const first = [heading, row('bob'), row('carla')].join('\n')
    expect(await load(first, { from: 'csv' })).toMatchObject({ imported: 2, backupCodes: 2 })
    expect(await redeem('bob', 'code00012345')).toEqual(valid)
    const contact = { kind: 'email', email: 'dan@example.com' } as const
    const own = await mfa.enrollApp({ contact, account: 'dan' })
    if (own.outcome !== 'prepared') throw new Error('nothing was prepared')
    const code = appCode(own.secret ?? '', Date.now() - 30_000)
    expect(await mfa.verify({ method: 'app', contact, account: 'dan', kind: 'confirm', code })).toEqual(valid)
    const whole = [heading, row('bob'), row('carla', OTHER), row('dan'), row('erin')].join('\n')
    expect(await load(whole, { from: 'csv' })).toMatchObject({
      ...{ imported: 1, unchanged: 1, backupCodes: 1 },
      refused: [
        { line: 3, code: 'other_app' },
        { line: 4, code: 'other_app' },
      ],
    })
    expect(await redeem('bob', 'code00012345'), 'a used code comes back').toEqual(invalid)
  })

  test('adds each app once when two imports run at once', async () => {
    const { load } = await moved(bench())
    const text = ['account,secret', ...Array.from({ length: 700 }, (_, nr) => `u${nr},${STRONG}`)].join('\n')
    const reports = await Promise.all([load(text, { from: 'csv' }), load(text, { from: 'csv' })])
    expect(reports.reduce((sum, { imported }) => sum + imported, 0)).toBe(700)
    expect(reports.reduce((sum, { unchanged }) => sum + unchanged, 0)).toBe(700)
  })

  test('says by line what is wrong with a row, and nothing of its secret or account', async () => {
    const { load } = await moved(bench())
    const secret = 'NOTBASE32SECRET18'
    const text = [
      `{"account":"bob","secret":"${secret}`,
      JSON.stringify({ account: 'bob', secret }),
      JSON.stringify({ account: 'bob', secret: STRONG, digits: 7 }),
      JSON.stringify({ account: 'bob', secret: STRONG, algorithm: 'MD5' }),
      JSON.stringify({ account: '', secret: STRONG }),
      JSON.stringify({ account: 'bob', secret: 'GEZDGNBVGY' }),
      JSON.stringify({ account: 'bob', secret: { any: secret } }),
      JSON.stringify({ account: 'bob', secret: `otpauth://hotp/x?secret=${STRONG}&counter=1` }),
    ].join('\n')
    const report = await load(text, { from: 'csv' })
    expect(report.refused.map(({ line, code }) => `${line} ${code}`)).toEqual([
      ...['1 unreadable', '2 secret', '3 parameters', '4 parameters'],
      ...['5 account', '6 too_weak', '7 secret', '8 counter_based'],
    ])
    const csv = await load(`account,secret\nbob,"${secret}"x\n"bob",${secret},more\n"a\nb",${WEAK}`, {
      from: 'csv',
    })
    expect(csv.refused.map(({ line, code }) => `${line} ${code}`)).toEqual([
      '2 unreadable',
      '3 unreadable',
      '4 account',
    ])
    expect(JSON.stringify([report, csv, bench().events])).not.toMatch(/NOTBASE32|JBSWY3|GEZDGN|bob/)
  })
})

describe('importApp', () => {
  test('binds a secret in any spelling, and refuses another shape with an error of its own', async () => {
    const service = await createService({
      secret: SECRET,
      dataDir: 'memory://',
      delivery: 'inbox',
      logger() {},
    })
    const contact = { kind: 'email', email: 'ann@example.com' } as const
    const importApp = service.importApp as (request: unknown) => Promise<string>
    const wrong = [undefined, {}, { contact }, { contact, secret: 5 }, { contact, secret: WEAK }]
    await everyCase(wrong, async (request) => {
      await expect(importApp(request)).rejects.toMatchObject({ code: 'ERR_MFA_SERVICE_REQUEST' })
    })
    const secret = 'jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp'
    const form = { algorithm: 'SHA256', digits: 8, period: 60 }
    expect(await importApp({ contact, secret, ...form })).toBe('bound')
    expect(await importApp({ contact, secret: WEAK, allowWeak: true })).toBe('kept')
    const code = new TOTP({ secret: Secret.fromBase32(STRONG), ...form }).generate()
    expect(await service.mfa.verify({ method: 'app', contact, code, kind: 'code' })).toEqual(valid)
    await service.close()
  })
})
