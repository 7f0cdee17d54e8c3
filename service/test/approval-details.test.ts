import { isChallengeFor, type MfaService } from 'countersign/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { unfitLine } from '../../src/protocol/named-lines.js'
import { CodeVerbs } from '../../src/protocol/verbs.js'
import { everyCase } from '../../test/kit/every-case.js'
import { loadTexts, SUPPORTED_LANGUAGES } from '../src/messages/texts/catalogue.js'
import { codeMessage, mailHtml } from '../src/messages/texts/compose.js'
import { convertToGsm7, gsm7Units } from '../src/messages/texts/sms.js'
import { describeOnBothDatabases } from './both-databases.js'
import { appCode, freshEmail, freshPhone, freshTenant, rejection, stopClock } from './kit.js'
import { KEY_PAGE, keysOf, optionsIn, RELYING_PARTY, registerSoftwareKey } from './software-key.js'

const { body: sendBody } = new CodeVerbs().send
const DIGEST = 'A'.repeat(43)
const OTHER = `${'A'.repeat(42)}B`
const LINES = [
  { label: 'Amount', value: '€ 250.00' },
  { label: 'To', value: 'DE89370400440532013000' },
]
const approval = { digest: DIGEST, lines: LINES }
const ASKED = { purpose: 'approval', transaction: 'approval-1', approval } as const

type Sent = Parameters<MfaService['send']>[0]

beforeEach(() => stopClock())
afterEach(() => {
  vi.useRealTimers()
})

describeOnBothDatabases((bench) => {
  describe('a code for an approval (R121, R123)', () => {
    const sent = async (request: Partial<Sent> = {}) => {
      const tenant = freshTenant(bench())
      const user = { account: 'user 7', contact: freshPhone() }
      const answer = await tenant.mfa.send({ method: 'sms', ...ASKED, ...user, ...request })
      const challenge = 'challenge' in answer ? { challenge: answer.challenge ?? '' } : {}
      const verify = (other: object) => {
        const typed = { method: 'sms', kind: 'code', code: tenant.lastCode(), ...user, ...challenge } as const
        return tenant.mfa.verify({ ...typed, transaction: ASKED.transaction, approval, ...other })
      }
      return { ...tenant, verify }
    }

    test('is in a message that names what is approved, before the code', async () => {
      const { sent: messages, lastCode } = await sent()
      expect(messages()[0]).toMatchObject({ purpose: 'approval' })
      expect(messages()[0]?.text).toBe(
        `Amount: € 250.00\nTo: DE89370400440532013000\n${lastCode()} is your Vault code to confirm exactly this. It expires in 5 minutes. Don't share it with anyone.`,
      )
    })

    test('counts for its details and its transaction only, and once', async () => {
      const { verify } = await sent()
      await everyCase(
        [
          { approval: { ...approval, digest: OTHER } },
          { approval: undefined },
          { transaction: 'approval-2' },
          { approval: undefined, transaction: undefined },
        ],
        async (other) => {
          expect(await verify(other)).toEqual({ outcome: 'invalid' })
        },
      )
      expect(await verify({})).toEqual({ outcome: 'valid' })
      expect(await verify({})).toEqual({ outcome: 'invalid' })
    })

    test('is not the code of a sign-in in the same transaction', async () => {
      const { verify } = await sent({ purpose: 'sign-in', approval: undefined } as never)
      expect(await verify({})).toEqual({ outcome: 'invalid' })
      expect(await verify({ approval: undefined })).toEqual({ outcome: 'valid' })
    })

    test('is asked for with details exactly if that is the purpose', async () => {
      const { mfa } = freshTenant(bench())
      const contact = freshPhone()
      await everyCase(
        [
          { purpose: 'approval' },
          { purpose: 'step-up', approval },
          { purpose: 'approval', approval: { digest: 'short', lines: LINES } },
          { purpose: 'approval', approval: { digest: DIGEST, lines: [] } },
          { purpose: 'approval', approval: { digest: DIGEST, lines: [...LINES, ...LINES, ...LINES] } },
        ] as const,
        async (request) => {
          const error = await rejection(mfa.send({ method: 'sms', contact, ...request }))
          expect(error).toMatchObject({ code: 'ERR_MFA_SERVICE_REQUEST' })
          expect(error.message).toContain('Approval')
        },
      )
    })

    test('is logged with the id that the application gave', async () => {
      const { verify, application } = await sent()
      await verify({})
      const logged = bench().events.filter(({ application: id }) => id === application.id)
      expect(logged.filter(({ approval: id }) => id === 'approval-1').map(({ event }) => event)).toEqual([
        'send.sent',
        'verify.succeeded',
      ])
    })
  })

  describe('a code that shows nothing', () => {
    test('of an app or a backup code approves, and has the id in the log', async () => {
      const { mfa, application } = freshTenant(bench())
      const user = { account: 'user 8', contact: freshEmail() }
      const enrolled = await mfa.enrollApp(user)
      const secret = enrolled.outcome === 'prepared' ? (enrolled.secret ?? '') : ''
      await mfa.verify({ method: 'app', kind: 'confirm', code: appCode(secret), ...user })
      vi.setSystemTime(Date.now() + 60_000)
      const { transaction } = ASKED
      const by = { ...user, transaction, approval }
      expect(await mfa.verify({ method: 'app', kind: 'code', code: appCode(secret), ...by })).toEqual({
        outcome: 'valid',
      })
      const codes = await mfa.createBackupCodes?.(user)
      const [code = ''] = codes?.outcome === 'created' ? codes.codes : []
      expect(await mfa.verify({ method: 'email', kind: 'backup', code, ...by })).toMatchObject({
        outcome: 'valid',
      })
      const logged = bench().events.filter(({ application: id, approval: of }) => id === application.id && of)
      expect(logged.map(({ reason }) => reason).filter(Boolean)).toEqual(['app', 'backup'])
    })
  })

  describe('a key for an approval (R124)', () => {
    const signing = async () => {
      const { mfa } = freshTenant(bench(), { relyingParty: RELYING_PARTY })
      const user = { account: 'user 9', contact: freshEmail() }
      const { device } = await registerSoftwareKey(mfa, user, 'passkey')
      const keys = keysOf(mfa)
      const ceremony = { ...user, ...ASKED, method: 'passkey' } as const
      const options = async () =>
        (await optionsIn(keys.authenticationOptions(ceremony))) as { readonly challenge: string }
      return { keys, device, ceremony, options }
    }

    test('signs a challenge that is derived from a nonce and the digest', async () => {
      const { keys, device, ceremony, options } = await signing()
      const [one, two] = [await options(), await options()]
      expect(Buffer.from(one.challenge, 'base64url')).toHaveLength(64)
      expect(one.challenge).not.toBe(two.challenge)
      expect(isChallengeFor(one.challenge, DIGEST)).toBe(true)
      expect(isChallengeFor(one.challenge, OTHER)).toBe(false)
      const response = device.get(one, KEY_PAGE)
      expect(await keys.authenticate({ ...ceremony, response })).toMatchObject({ outcome: 'valid' })
    })

    test('is refused for other details, another transaction and another purpose', async () => {
      const { keys, device, ceremony, options } = await signing()
      await everyCase(
        [
          { approval: { ...approval, digest: OTHER } },
          { transaction: 'approval-2' },
          { purpose: 'step-up', approval: undefined },
        ] as const,
        async (other) => {
          const response = device.get(await options(), KEY_PAGE)
          const request = { ...ceremony, ...other, response } as Parameters<typeof keys.authenticate>[0]
          expect(await keys.authenticate(request)).toEqual({ outcome: 'invalid', fault: 'challenge' })
        },
      )
      // Nor does the signature of a sign-in approve anything.
      const signIn = { ...ceremony, purpose: 'sign-in', approval: undefined } as const
      const plain = await optionsIn(keys.authenticationOptions(signIn as never))
      const response = device.get(plain, KEY_PAGE)
      expect(await keys.authenticate({ ...ceremony, response })).toEqual({
        outcome: 'invalid',
        fault: 'challenge',
      })
    })
  })
})

describe('a message that names what is approved (R123)', () => {
  const message = (
    channel: 'sms' | 'email' | 'call',
    named: readonly { label: string; value: string }[],
    { locale = 'en', name = 'Vault', origin }: { locale?: string; name?: string; origin?: string } = {},
  ) =>
    codeMessage(
      { name, origin },
      { channel, to: channel === 'email' ? 'a@example.com' : '+447700900100', locale },
      { code: '012345', purpose: 'approval', secondsLeft: 300, named },
    )
  /** How many segments a text takes. */
  const segments = (text: string) => {
    const units = gsm7Units(text)
    if (units !== undefined) return units <= 160 ? 1 : Math.ceil(units / 153)
    return text.length <= 70 ? 1 : Math.ceil(text.length / 67)
  }

  test('takes at most three segments in every language, and keeps the code (R146)', () =>
    everyCase(SUPPORTED_LANGUAGES, (locale) => {
      const brief = message('sms', [{ label: 'To', value: 'Ana' }], { locale }).text
      expect(brief).toContain(convertToGsm7(loadTexts(locale).purposes.approval))
      for (const letter of ['x', '€', '社', '😀']) {
        for (const size of [1, 20, 200]) {
          for (const lines of [1, 4]) {
            const named = Array.from({ length: lines }, (_, nth) => ({
              label: `${letter.repeat(Math.min(size, 30))} ${nth}`,
              value: `${letter.repeat(size)} ${nth}`,
            }))
            if (unfitLine(named)) continue
            for (const name of ['Vault', '社'.repeat(40), 'x'.repeat(40)]) {
              const { text } = message('sms', named, { locale, name, origin: 'sign-in.vault.example' })
              expect([segments(text) <= 3, text.includes('012345')]).toEqual([true, true])
              for (let nth = 0; nth < lines; nth++)
                expect(text.split('\n')[nth]).toMatch(new RegExp(`${nth}$`))
            }
          }
        }
      }
    }))

  test('shows both ends of what it shortens', () => {
    const value = `Ana ${'x'.repeat(390)}, Lyon`
    const { text } = message('sms', [
      { label: 'To', value },
      { label: 'Memo', value },
    ])
    expect(text).toMatch(/^To: Ana x+\.\.\.x+, Lyon\n/)
  })

  const AMOUNTS = [
    '12500.00 EUR',
    'EUR 12.500,00',
    '¥1,250,000',
    '1 250 000,00 zł',
    '5 million USD',
    '-0.00012345 BTC',
    '٣٫١٤',
  ]
  const IDENTIFIERS = [
    'GB29NWBK60161331926819',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    'mallory.the.payee@bank.example',
  ]
  const FREE = [
    'Ana',
    'rent for the flat in the old town '.repeat(5),
    '家賃と共益費'.repeat(20),
    'Miete für 3 Zimmer '.repeat(4),
  ]

  test('never cuts a number or an amount, and keeps six characters at each end of an identifier (R146)', () =>
    everyCase(SUPPORTED_LANGUAGES, (locale) => {
      let carried = 0
      for (const amount of AMOUNTS)
        for (const to of IDENTIFIERS)
          for (const free of FREE) {
            for (const lines of [
              [
                ['Amount', amount],
                ['To', to],
                ['Memo', free.slice(0, 150)],
              ],
              [
                ['Memo', `${free.slice(0, 90)} ${amount} ${free.slice(0, 40)}`.trim()],
                ['The account that receives it', to],
              ],
              [
                ['To', to],
                ['Memo', free],
                ['Memo', free.slice(3)],
                ['Amount', amount],
              ],
            ]) {
              const named = lines.map(([label = '', value = '']) => ({ label, value: value.trim() }))
              if (unfitLine(named)) continue
              carried++
              const { text } = message('sms', named, { locale, origin: 'sign-in.vault.example' })
              const shown = text.replaceAll('. ', '.').replaceAll('@ ', '@')
              expect(segments(text)).toBeLessThanOrEqual(3)
              expect([amount, convertToGsm7(amount)].some((whole) => shown.includes(whole))).toBe(true)
              for (const number of named.flatMap(({ value }) =>
                value === to ? [] : (value.match(/\p{N}+/gu) ?? []),
              ))
                expect(shown).toContain(number)
              expect(shown).toContain(to.slice(0, 6))
              expect(shown).toContain(to.slice(-6))
              expect(text).toContain('012345')
            }
          }
      expect(carried).toBeGreaterThan(100)
    }))

  test('shows an amount whole in a language of 70 characters a segment, and cuts the longest free text first (R146)', () => {
    const named = [
      { label: '金額', value: '12500.00 EUR' },
      { label: '受取人', value: 'DE89370400440532013000' },
      { label: 'メモ', value: '家賃'.repeat(90) },
    ]
    const { text } = message('sms', named, { locale: 'ja' })
    expect(text).toContain('金額: 12500.00 EUR\n受取人: DE89370400440532013000\nメモ: 家賃')
  })

  test('is not sent as a text message into which it does not fit, but by email and call (R146)', async () => {
    const send = sendBody.safeParse.bind(sendBody)
    const named = [{ label: 'To', value: '12 '.repeat(66) }]
    const request = { User: '+447700900100', Purpose: 'approval', Approval: { digest: DIGEST, lines: named } }
    const refused = send({ ...request, Type: 'SMS' })
    expect(refused.error?.issues).toMatchObject([
      { path: ['Approval'], message: expect.stringContaining('text message') },
    ])
    expect(send({ ...request, User: 'a@example.com:+447700900100', Type: 'DUAL' }).success).toBe(false)
    expect(send({ ...request, Type: 'CALL' }).success).toBe(true)
    expect(send({ ...request, User: 'a@example.com', Type: 'EMAIL' }).success).toBe(true)
  })

  test('takes no raw user agent, but names from a list, and a short place', () => {
    const isAccepted = (SignIn: unknown) =>
      sendBody.safeParse({ User: 'a@example.com', Type: 'EMAIL', SignIn }).success
    expect(isAccepted({})).toBe(true)
    expect(isAccepted(JSON.stringify({ browser: 'Firefox', system: 'Windows', location: 'Lyon' }))).toBe(true)
    for (const odd of [
      { browser: 'Mozilla/5.0' },
      { system: 'Windows NT 10.0' },
      { location: 'x'.repeat(61) },
      { extra: 'x' },
      'x',
    ])
      expect(isAccepted(odd)).toBe(false)
  })

  test('says in the subject of an email what it is for (R146)', () => {
    expect(message('email', LINES).subject).toBe(
      'Amount: € 250.00 · To: DE89370400440532013000 · 012345 is your Vault code',
    )
  })

  test('adds no line, link or origin of its own', () =>
    everyCase(
      [
        ['a\n\n@evil.example #1', 'a @evil. example #1'],
        ['@evil.example #1', 'evil. example #1'],
        ['www.evil.com', 'www. evil. com'],
        ['http://evil.com/x', 'http: //evil. com/ x'],
        ['bob@evil.com', 'bob@ evil. com'],
        ['DE\u202e99', 'DE99'],
        ['250.00', '250.00'],
      ] as const,
      ([value, shown]) => {
        const { text } = message('sms', [{ label: 'To', value }], { origin: 'vault.example' })
        expect(text.split('\n')[0]).toBe(`To: ${shown}`)
        expect(text.match(/^@/gm)).toHaveLength(1)
      },
    ))

  test('marks in a call where a value ends, which no value can (R146)', () =>
    everyCase(SUPPORTED_LANGUAGES, (locale) => {
      const end = loadTexts(locale).spokenLine.replace('{line}', '')
      const words = end.replace(/^\P{L}+|\P{L}+$/gu, '')
      const value = `5 EUR${end.toUpperCase()} To: Ana. ${words}! 12.50`
      const { text } = message(
        'call',
        [
          { label: 'Amount', value },
          { label: 'To', value: 'Eve' },
        ],
        { locale },
      )
      // Two values, each said twice.
      expect(text.toLowerCase().split(words.toLowerCase())).toHaveLength(5)
      const [first = ''] = text.slice(text.indexOf('Amount')).split(end)
      expect(first).toMatch(/^Amount: 5 EUR/)
      expect(first).toContain('12.50')
      expect(first).not.toMatch(/[.。!](\s|$)/)
    }))

  test('is read out in a call, and escaped in an email', () => {
    const named = [{ label: 'To', value: '<b>Ana</b>' }]
    expect(message('call', named).text).toMatch(
      /^Hello, this is Vault\. To: <b>Ana<\/b>\. End of entry\. Your code/,
    )
    const mail = message('email', named)
    // The lines of what is approved stand on their own.
    expect(mail.text).toMatch(/^To: <b>Ana<\/b>\n\n012345 is/)
    expect(mailHtml(mail)).toContain('To: &lt;b&gt;Ana')
  })
})
