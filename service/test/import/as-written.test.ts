import fc from 'fast-check'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { type Bench, openBench } from '../kit.js'
import { type Given, lines, moved, valid } from './moved.js'

const [A, B, C, D] = [
  'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
  'VGS7LWIS2JTA4MMJ5QD4PFFWVMLYCNUW',
  'TAC2A4BBCJLNJISWXDJRS6LECBGNU2OF',
] as const
const HEX = (secret: string) => Buffer.from(Secret.fromBase32(secret).bytes).toString('hex')

interface Case {
  readonly name: string
  readonly text: string | Uint8Array
  /** How it is imported. Defaults to `--from csv`. */
  readonly given?: Partial<Given>
  /** The accounts that get an app, with its secret, in the order of the rows. */
  readonly gets?: Readonly<Record<string, string>>
  /** `line code` of what is refused, then of what is remarked. */
  readonly says?: readonly string[]
}

describe('a file as people write it', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(() => bench.close())

  async function check({ text, given, gets = {}, says = [], name }: Case) {
    const { load, enter, ann, id } = await moved(bench)
    const report = await load(text, { from: 'csv', ...given })
    const said = [...report.refused, ...report.remarks].map(({ line, code }) => `${line} ${code}`)
    expect([report.imported, said], name).toEqual([Object.keys(gets).length, says])
    const { users } = await ann.listUsers({ application: id, mode: 'live', limit: 100 })
    expect(users.map(({ account }) => account).toSorted(), name).toEqual(Object.keys(gets).toSorted())
    for (const [account, secret] of Object.entries(gets)) {
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
      expect([account, await enter(account, code)], name).toEqual([account, valid])
    }
    return report
  }

  const table = (...rows: readonly string[]) => rows.join('\n')

  test('attaches a secret to an id above 2^53 digit by digit, in every shape of JSON (R154)', async () => {
    const [first, second, huge] = ['441319831392747531', '441319831392747530', '10765432109876543211']
    const gets = { [first]: A, [second]: B, [huge]: C }
    const row = (id: string, secret: string) => `{"account":${id},"secret":"${secret}"}`
    const rows = Object.entries(gets).map(([id, secret]) => row(id, secret))
    await everyCase<Case>(
      [
        { name: 'a list', text: `[${rows}]`, gets },
        { name: 'lines', text: rows.join('\n'), gets },
        { name: 'users', text: `{"total":3,"users":[${rows}]}`, gets },
        { name: 'an object around the list', text: `{"rows":[${rows}]}`, gets },
        { name: 'below 2^53', text: row('9007199254740991', A), gets: { '9007199254740991': A } },
        { name: '2^53 + 1', text: row('9007199254740993', A), gets: { '9007199254740993': A } },
        { name: 'below zero', text: row('-9007199254740993', A), gets: { '-9007199254740993': A } },
        {
          name: 'as texts',
          text: table(row(`"${first}"`, A), row(`"${second}"`, B)),
          gets: { [first]: A, [second]: B },
        },
        {
          name: 'CSV',
          text: table('account,secret', `${first},${A}`, `${second},${B}`),
          gets: { [first]: A, [second]: B },
        },
        {
          name: 'Auth0',
          text: `[{"user_id":${first},"mfa_factors":[{"totp":{"secret":"${A}"}}]},{"user_id":${second}}]`,
          given: { from: 'auth0' },
          gets: { [first]: A },
        },
        {
          name: 'another field',
          text: `[{"id":${huge},"secret":"${C}"}]`,
          given: { accountField: 'id' },
          gets: { [huge]: C },
        },
      ],
      check,
    )
  })

  test('takes no number that is not a whole one for an id, and refuses its row by name (R154)', async () => {
    const row = (id: string) => `{"account":${id},"secret":"${A}"}`
    await everyCase(
      ['1e3', '1.5', '-0', '1.0', '1E+20', '0.0', '-1.25', '1e-7', '12345678901234567890.5'],
      (id) =>
        check({ name: id, text: table(row(id), row('7')), gets: { '7': A }, says: ['1 account_number'] }),
    )
    await everyCase(['true', 'null', '[7]', '{"id":7}', '[]'], (id) =>
      check({ name: id, text: row(id), says: ['1 account'] }),
    )
    await everyCase(['"1e3"', '"1-0"', '0', '-5'], (id) =>
      check({
        name: id,
        text: row(id),
        gets: { [id.replaceAll('"', '')]: A },
        says: id === '"1e3"' ? ['1 account_spelling'] : [],
      }),
    )
  })

  test('refuses ids that a spreadsheet has rounded, by name (R154)', async () => {
    const rounded = ['4.41E+17', '4,41E+17', '4E+17', '1.0765E+19', '1001.0', '1001,00', '7.0']
    await everyCase(rounded, (id) =>
      check({
        name: id,
        text: `account\tsecret\n${id}\t${A}\n8\t${B}`,
        gets: { '8': B },
        says: ['2 account_number'],
      }),
    )
    await check({ name: 'a phone', text: `user;secret\n4.47E+11;${A}`, says: ['2 account_number'] })
    await everyCase(['441319831392747531', '1000000000', '4e10af', 'v1.0', '1.2.0', 'E+17'], (id) =>
      check({ name: id, text: `account\tsecret\n${id}\t${A}`, gets: { [id]: A } }),
    )
  })

  test('trims spaces of every kind around an account, and remarks on what another system may write otherwise (R154)', async () => {
    const spaces = [
      ' 1001',
      '1001 ',
      '\u00a01001',
      '1001\u2009',
      '\u200b1001',
      '\ufeff1001\u00a0',
      '\u30001001',
      '"  1001 "',
    ]
    await everyCase(spaces, (id) =>
      check({ name: id, text: table('account,secret', `${id},${A}`), gets: { '1001': A } }),
    )
    const { load, mfa } = await moved(bench)
    await load(table('user,secret', ` ann@example.com\u00a0,${A}`), { from: 'csv' })
    const contact = { kind: 'email', email: 'ann@example.com' } as const
    const code = new TOTP({ secret: Secret.fromBase32(A) }).generate()
    expect(await mfa.verify({ method: 'app', contact, kind: 'code', code })).toEqual(valid)
    const odd = ['01', '１', '0x10', '+5', "'1001", 'ａnn', '1e3', '٣', '1,001', '441319831392747000']
    await everyCase(odd, (id) =>
      check({
        name: id,
        text: `account;secret\n${id};${A}`,
        gets: { [id]: A },
        says: ['2 account_spelling'],
      }),
    )
    await everyCase(
      ['1', '0', 'ann', 'Ann', 'élan', '李', '-5', '00ab', '550e8400-e29b-41d4-a716-446655440000'],
      (id) => check({ name: id, text: `account;secret\n${id};${A}`, gets: { [id]: A } }),
    )
    await check({
      name: 'one account written twice',
      text: table('account,secret', `1001,${A}`, ` 1001,${B}`, `=" 1001",${A}`),
      gets: { '1001': A },
      says: ['3 other_app'],
    })
  })

  test('refuses a row in which two columns of one name say different things (R154)', async () => {
    await everyCase<Case>(
      [
        {
          name: 'accounts',
          text: table('account,account,secret', `1,2,${A}`, `3,3,${B}`),
          gets: { '3': B },
          says: ['2 ambiguous'],
        },
        {
          name: 'two spellings',
          text: table('id,ID,secret', `1,2,${A}`),
          given: { accountField: 'id' },
          says: ['2 ambiguous'],
        },
        { name: 'secrets', text: table('account,secret,Secret', `1,${A},${B}`), says: ['2 ambiguous'] },
        {
          name: 'JSON',
          text: `{"account":1,"account":2,"secret":"${A}"}\n{"account":3,"secret":"${B}"}`,
          gets: { '3': B },
          says: ['1 ambiguous'],
        },
        {
          name: 'a list',
          text: `[{"account":1,"account":2,"secret":"${A}"},{"account":3,"secret":"${B}"}]`,
          gets: { '3': B },
          says: ['1 ambiguous'],
        },
        {
          name: 'big ones',
          text: `{"account":441319831392747531,"account":441319831392747530,"secret":"${A}"}`,
          says: ['1 ambiguous'],
        },
        { name: 'the same twice', text: `{"account":1,"account":1,"secret":"${A}"}`, gets: { '1': A } },
        { name: 'nameless', text: table('account,secret,,', `1,${A},x,y`), gets: { '1': A } },
      ],
      check,
    )
  })

  test('leaves out rows that were never confirmed, by the column of each known source (R154)', async () => {
    const django = (...rows: readonly string[]) =>
      table('id,user_id,name,confirmed,key,step,t0,digits,tolerance,drift,last_t', ...rows)
    const dump = (user: number, confirmed: boolean, key: string) => ({
      model: 'otp_totp.totpdevice',
      pk: user,
      fields: { user, name: 'default', confirmed, key, step: 30, t0: 0, digits: 6 },
    })
    await everyCase<Case>(
      [
        {
          name: 'django-otp',
          text: django(`1,11,default,t,${HEX(A)},30,0,6,1,0,5`, `2,12,default,f,${HEX(B)},30,0,6,1,0,-1`),
          given: { from: 'django-otp' },
          gets: { '11': A },
          says: ['3 unconfirmed'],
        },
        {
          name: 'the dump of Django',
          text: JSON.stringify([dump(11, true, HEX(A)), dump(12, false, HEX(B))]),
          given: { from: 'django-otp' },
          gets: { '11': A },
          says: ['2 unconfirmed'],
        },
        {
          name: 'Supabase',
          text: table(
            'id,user_id,factor_type,status,secret',
            `a,u1,totp,verified,${A}`,
            `b,u2,totp,unverified,${B}`,
            'c,u3,phone,verified,',
          ),
          given: { from: 'supabase' },
          gets: { u1: A },
          says: ['3 unconfirmed'],
        },
        {
          name: 'Fortify',
          text: lines(
            {
              id: 1,
              two_factor_secret: A,
              two_factor_confirmed_at: '2026-01-05 10:00:00',
              email_verified_at: null,
            },
            { id: 2, two_factor_secret: B, two_factor_confirmed_at: null, email_verified_at: '2026-01-05' },
            { id: 3, two_factor_secret: null, two_factor_confirmed_at: null },
          ),
          given: { from: 'fortify' },
          gets: { '1': A },
          says: ['2 unconfirmed'],
        },
        {
          name: 'better-auth',
          text: table('userId,secret,verified', `u1,base32:${A},t`, `u2,base32:${B},f`, `u3,base32:${C},`),
          given: { from: 'better-auth' },
          gets: { u1: A, u3: C },
          says: ['3 unconfirmed'],
        },
        {
          name: 'without its column',
          text: table('user_id,key', `11,${HEX(A)}`),
          given: { from: 'django-otp' },
          says: ['2 confirmation'],
        },
        {
          name: 'another column by option',
          text: table('user_id,key,confirmed,checked', `11,${HEX(A)},f,yes`, `12,${HEX(B)},t,no`),
          given: { from: 'django-otp', confirmedField: 'checked' },
          gets: { '11': A },
          says: ['3 unconfirmed'],
        },
      ],
      check,
    )
  })

  test('refuses a table with a column that may mean "confirmed", until an option names the one that does, or none (R154)', async () => {
    const columns = [
      'confirmed',
      'verified',
      'Verified',
      'is_active',
      'status',
      'email_verified_at',
      'twoFactorEnabled',
      'otp_required_for_login',
      'state',
      'enrolled',
    ]
    await everyCase(columns, async (column) => {
      const text = `account;secret;${column}\n1;${A};true\n2;${B};false\n`
      await check({ name: column, text, says: ['2 confirmation', '3 confirmation'] })
      await check({
        name: column,
        text,
        given: { confirmedField: column.toUpperCase() },
        gets: { '1': A },
        says: ['3 unconfirmed'],
      })
      await check({ name: column, text, given: { confirmedField: 'none' }, gets: { '1': A, '2': B } })
      await check({
        name: column,
        text: lines({ account: 1, secret: A, [column]: 1 }, { account: 2, secret: B }),
        gets: { '2': B },
        says: ['1 confirmation'],
      })
    })
    const text = `account,secret,verified\n1,${A},1\n`
    await check({
      name: 'a column that is not there',
      text,
      given: { confirmedField: 'confirmed' },
      says: ['2 confirmation'],
    })
    await everyCase(['name', 'created_at', 'last_used_at', 'issuer', 'interval', 'country'], (column) =>
      check({ name: column, text: `account,secret,${column}\n1,${A},true`, gets: { '1': A } }),
    )
    const yes = [
      't',
      'TRUE',
      'true',
      '1',
      'yes',
      'Y',
      'verified',
      'confirmed',
      'enabled',
      'active',
      '2026-01-05T10:00:00Z',
      '1790000000',
      '1790000000000',
    ]
    const no = [
      'f',
      'False',
      '0',
      'no',
      'N',
      '',
      'NULL',
      '\\N',
      'unverified',
      'unconfirmed',
      'pending',
      'disabled',
      'inactive',
      '0000-00-00 00:00:00',
      'off',
      'null',
    ]
    const load = (value: string) => table('account,secret,ok', `1,${A},${value}`)
    await everyCase(yes, (value) =>
      check({ name: value, text: load(value), given: { confirmedField: 'ok' }, gets: { '1': A } }),
    )
    await everyCase(no, (value) =>
      check({ name: value, text: load(value), given: { confirmedField: 'ok' }, says: ['2 unconfirmed'] }),
    )
    await everyCase(['perhaps', '2', 'deleted', 'vérifié'], (value) =>
      check({ name: value, text: load(value), given: { confirmedField: 'ok' }, says: ['2 confirmation'] }),
    )
  })

  test('reads the export of all realms of Keycloak, and no name of a user of which there may be two (R154)', async () => {
    const user = (id: string, username: string, ...secrets: readonly string[]) => ({
      id,
      username,
      credentials: secrets.map((value) => ({
        type: 'otp',
        secretData: JSON.stringify({ value }),
        credentialData: JSON.stringify({
          subType: 'totp',
          digits: 6,
          period: 30,
          algorithm: 'HmacSHA1',
          secretEncoding: 'BASE32',
        }),
      })),
    })
    const realms = [
      { id: 'r1', realm: 'master', users: [user('u-admin', 'ann', A)] },
      { id: 'r2', realm: 'vault', users: [user('u-ann', 'ann', B), user('u-cat', 'cat', C, D)] },
      { id: 'r3', realm: 'empty', users: [] },
    ]
    const given = { from: 'keycloak' } as const
    const gets = { 'u-admin': A, 'u-ann': B, 'u-cat': C }
    const report = await check({
      name: 'all',
      text: JSON.stringify(realms),
      given,
      gets,
      says: ['3 further_app'],
    })
    expect(report).toMatchObject({ absent: 0, furtherApps: 1 })
    const byName = { ...given, accountField: 'username' }
    const says = ['1 realms', '2 realms', '3 realms']
    await check({ name: 'by name', text: JSON.stringify(realms), given: byName, says })
    await check({
      name: 'one realm by name',
      text: JSON.stringify(realms[1]),
      given: byName,
      gets: { ann: B, cat: C },
      says: ['2 further_app'],
    })
    await check({
      name: 'one realm in a list',
      text: JSON.stringify([realms[1]]),
      given: byName,
      gets: { ann: B, cat: C },
      says: ['2 further_app'],
    })
    const old = {
      realm: 'old',
      users: [
        {
          id: 'u-leg',
          credentials: [
            { type: 'totp', value: 'dummySecret9ABCDEFGH', algorithm: 'HmacSHA1', digits: 6, period: 30 },
          ],
        },
        { id: 'u-hotp', credentials: [{ type: 'hotp', value: 'dummySecret9ABCDEFGH', counter: 1 }] },
      ],
    }
    const raw = new Secret({ buffer: new Uint8Array(Buffer.from('dummySecret9ABCDEFGH')).buffer }).base32
    await check({
      name: 'Keycloak 4',
      text: JSON.stringify(old, null, 2),
      given,
      gets: { 'u-leg': raw },
      says: ['2 counter_based'],
    })
  })

  test('counts a second device of a user', async () => {
    const auth0 = [
      {
        user_id: 'auth0|1',
        mfa_factors: [
          { totp: { secret: A } },
          { phone: { value: '+447700900123' } },
          { totp: { secret: B } },
        ],
      },
    ]
    const report = await check({
      name: 'Auth0',
      text: JSON.stringify(auth0),
      given: { from: 'auth0' },
      gets: { 'auth0|1': A },
      says: ['1 further_app'],
    })
    expect(report).toMatchObject({ furtherApps: 1 })
    const rows = table('user_id,confirmed,key', `11,t,${HEX(A)}`, `11,t,${HEX(B)}`)
    expect(
      await check({
        name: 'rows',
        text: rows,
        given: { from: 'django-otp' },
        gets: { '11': A },
        says: ['3 other_app'],
      }),
    ).toMatchObject({ furtherApps: 0 })
  })

  test('reads CSV as spreadsheets and databases write it', async () => {
    const gets = { '1001': A, '1002': B }
    const rows = (separator: string, end = '\n') =>
      [
        ['account', 'secret'],
        ['1001', A],
        ['1002', B],
      ]
        .map((cells) => cells.join(separator))
        .join(end) + end
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
    await everyCase<Case>(
      [
        ...[',', ';', '\t', '|'].flatMap((separator) =>
          ['\n', '\r\n', '\r'].map((end) => ({
            name: `${separator}${end}`,
            text: rows(separator, end),
            gets,
          })),
        ),
        { name: 'sep=', text: `sep=;\r\n${rows(';', '\r\n')}`, gets },
        {
          name: 'sep= with its first comma',
          text: `sep=;\naccount;secret;a,b,c\n1001;${A};x\n1002;${B};y`,
          gets,
        },
        { name: 'SEP=', text: `"SEP=\t"\n${rows('\t')}`, gets },
        { name: 'UTF-8 with a mark', text: Buffer.from(`\ufeff${rows(';')}`), gets },
        { name: 'UTF-8', text: Buffer.from(rows(';')), gets },
        { name: 'UTF-16 LE', text: utf16(rows('\t', '\r\n')), gets },
        { name: 'UTF-16 BE', text: utf16(rows(',')).swap16(), gets },
        {
          name: 'UTF-16 of letters',
          text: utf16(`account\tsecret\nmüller\t${A}\n李\t${B}`),
          gets: { müller: A, 李: B },
        },
        {
          name: 'UTF-16 of JSON',
          text: utf16(lines({ account: 1001, secret: A }, { account: 1002, secret: B })),
          gets,
        },
        { name: 'UTF-16 that was read as UTF-8', text: utf16(rows('\t', '\r\n')).toString('utf8'), gets },
        { name: 'UTF-16 BE that was read as UTF-8', text: utf16(rows(',')).swap16().toString('utf8'), gets },
        {
          name: 'letters of UTF-16 that was read as UTF-8',
          text: utf16(`account,secret\nmüller,${A}`).toString('utf8'),
          says: ['1 unreadable'],
        },
        {
          name: 'psql',
          text: ` account | secret \n---------+---------\n    1001 | ${A}\n    1002 | ${B}\n(2 rows)\n`,
          gets,
          says: ['2 unreadable', '5 unreadable'],
        },
        { name: 'headings', text: table('Account, SECRET', `1001,${A}`, `1002,${B}`), gets },
        {
          name: 'a named heading',
          text: table('User ID,Secret', `1001,${A}`, `1002,${B}`),
          given: { accountField: 'user_id' },
          gets,
        },
        { name: 'texts of Excel', text: table('account,secret', `"=""1001""",${A}`, `="1002",${B}`), gets },
        {
          name: 'quotes after a space',
          text: table('account, secret', `"1001", "${A}"`, `"1002" ,"${B}"`),
          gets,
        },
        {
          name: 'a separator in quotes',
          text: table('account;secret;note', `1001;${A};"a;b"`, `1002;${B};"c, d"`),
          gets,
        },
        {
          name: 'one object',
          text: JSON.stringify({ account: '1001', secret: A }, null, 2),
          gets: { '1001': A },
        },
        {
          name: 'a spreadsheet',
          text: Buffer.from('PK\u0003\u0004\u0014\u0000\u0006\u0000[Content_Types].xml', 'latin1'),
          says: ['1 unreadable'],
        },
        {
          name: 'not UTF-8',
          text: Buffer.from(`account;secret\nm\u00fcller;${A}\n8;${B}`, 'latin1'),
          gets: { '8': B },
          says: ['2 account'],
        },
      ],
      check,
    )
  })

  test('counts lines as the file does, whatever separates cells and rows', async () => {
    const text = `sep=;\r\naccount;secret\r\n1;${A}\r\n\r\n"2\r\n";${B}\r\n3;x8\r\n`
    await check({ name: 'lines', text, gets: { '1': A, '2': B }, says: ['7 secret'] })
    await check({
      name: 'CR',
      text: text.replaceAll('\r\n', '\r'),
      gets: { '1': A, '2': B },
      says: ['7 secret'],
    })
  })

  test('reads addresses and secrets as apps and databases write them, or names what they are', async () => {
    const uri = (text: string) => lines({ account: 'u', otpauth_url: text })
    const reads = [
      `OTPAUTH://TOTP/Shop:ann?SECRET=${A}&ISSUER=Shop`,
      `otpauth://totp/Shop:ann?Secret=${A}`,
      `otpauth://totp/Shop:ann?secret=${A}&amp;issuer=Shop&amp;period=30`,
      `otpauth://totp/Shop:ann?issuer=Shop&amp;secret=${A}`,
      `otpauth://totp/Shop #1:ann?secret=${A}&issuer=Shop #1`,
      `otpauth://totp/who?:ann?secret=${A}`,
      `otpauth://totp/100% Shop:ann?secret=${A}&issuer=100% Shop`,
      `apple-otpauth://totp/Shop:ann?secret=${A}&issuer=Shop`,
      ` otpauth://totp/Shop:ann?secret=${A.toLowerCase()} `,
      `otpauth://totp/Shop:ann?secret=${A}%3D%3D&algorithm=&digits=`,
      `otpauth://totp?secret=${A}`,
      `otpauth://totp/Shop:ann?secret=${A}&secret=${A}`,
    ]
    await everyCase(reads, (text) => check({ name: text, text: uri(text), gets: { u: A } }))
    const names: readonly (readonly [string, string])[] = [
      [`otpauth://hotp/Shop:ann?secret=${A}&counter=5`, 'counter_based'],
      [`otpauth://steam/Steam:ann?secret=${A}`, 'other_address'],
      [`steam://${A}`, 'other_address'],
      ['otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8S', 'other_address'],
      [`otpauth://totp/Shop:ann?secret=${A}&secret=${B}`, 'ambiguous'],
      ['otpauth://totp/Shop:ann?issuer=Shop', 'secret'],
      [`otpauth://totp/Shop:ann?secret=${A}&digits=7`, 'parameters'],
      [`otpauth://totp/Shop:ann?secret=${A}&amp;digits=7`, 'parameters'],
      [`OTPAUTH://totp/Shop:ann?secret=${A}&PERIOD=15`, 'parameters'],
    ]
    await everyCase(names, ([text, code]) => check({ name: text, text: uri(text), says: [`1 ${code}`] }))

    const hex = HEX(A)
    const colons = hex.replace(/(..)(?=.)/g, '$1:')
    const hexes = [
      hex,
      hex.toUpperCase(),
      colons,
      `0x${hex}`,
      `\\x${hex}`,
      `0X${hex.toUpperCase()}`,
      `x'${hex}'`,
      ` ${hex} `,
    ]
    await everyCase(hexes, async (secret) => {
      const text = lines({ account: 'u', secret })
      await check({ name: secret, text, given: { encoding: 'hex' }, gets: { u: A } })
    })
    await check({
      name: 'hex without its option',
      text: lines({ account: 'u', secret: `\\x${hex}` }),
      says: ['1 secret'],
    })
    await check({
      name: 'half a byte',
      text: lines({ account: 'u', secret: `0x${hex}a` }),
      given: { encoding: 'hex' },
      says: ['1 secret'],
    })
    const spellings = [
      `${A}%3D%3D`,
      A.replace(/(.{4})(?=.)/g, '$1_'),
      `\u200b${A}`,
      A.replace(/(.{4})/g, '$1\u00a0'),
    ]
    await everyCase(spellings, (secret) =>
      check({ name: secret, text: lines({ account: 'u', secret }), gets: { u: A } }),
    )
  })

  test('attaches a secret to exactly the account that its row names, or refuses the row, whatever ids look like (R154)', async () => {
    const digits = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(String)
    const near = fc
      .tuple(fc.constantFrom(2n ** 53n, 2n ** 63n, 10n ** 18n), fc.integer({ min: -3, max: 3 }))
      .map(([base, step]) => String(base + BigInt(step)))
    const number = fc.oneof(
      digits,
      near,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    )
    const word = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }).map((text) => text.trim())
    const id = fc.oneof(
      number,
      word.filter((text) => text !== ''),
      fc.constantFrom('01', '1', '1.0', '１', ' 1', '4.41E+17', '1e3', '-0'),
    )
    const shape = fc.constantFrom('number', 'list', 'text', 'csv', 'semicolon', 'utf16')
    const secretOf = (index: number) =>
      new Secret({ buffer: new Uint8Array(Buffer.from(`secret of the row ${index}!`)).buffer }).base32
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    const isNumber = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)

    function fileOf(ids: readonly string[], form: string): string | Uint8Array {
      const cells = ids.map((text, index) => [text, secretOf(index)] as const)
      if (form === 'csv')
        return table('account,secret', ...cells.map(([text, secret]) => `${quoted(text)},${secret}`))
      if (form === 'semicolon')
        return table('account;secret', ...cells.map(([text, secret]) => `${quoted(text)};${secret}`))
      if (form === 'utf16')
        return Buffer.from(
          `\ufeff${table('account\tsecret', ...cells.map(([text, secret]) => `${quoted(text)}\t${secret}`))}`,
          'utf16le',
        )
      const rows = cells.map(([text, secret]) => {
        const account = form !== 'text' && isNumber(text) ? text : JSON.stringify(text)
        return `{"account":${account},"secret":"${secret}"}`
      })
      return form === 'list' ? `[${rows}]` : rows.join('\n')
    }

    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(id, { selector: (text) => text.trim(), minLength: 1, maxLength: 6 }),
        shape,
        async (ids, form) => {
          const { load, enter, ann, id: application } = await moved(bench)
          const report = await load(fileOf(ids, form), { from: 'csv' })
          expect(report.imported + report.refused.length).toBe(ids.length)
          const isList = form === 'list' || form === 'number' || form === 'text'
          const refused = new Set(report.refused.map(({ line }) => (isList ? line - 1 : line - 2)))
          const named = ids.flatMap((text, index) =>
            refused.has(index) ? [] : [{ account: text.trim(), index }],
          )
          const { users } = await ann.listUsers({ application, mode: 'live', limit: 100 })
          expect(users.map(({ account }) => account).toSorted()).toEqual(
            named.map(({ account }) => account).toSorted(),
          )
          for (const { account, index } of named) {
            const code = new TOTP({ secret: Secret.fromBase32(secretOf(index)) }).generate()
            expect([account, await enter(account, code)]).toEqual([account, valid])
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
