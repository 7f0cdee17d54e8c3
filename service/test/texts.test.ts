import type { Purpose } from 'countersign/protocol'
import { expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import type { Notice } from '../src/accounts/application.js'
import { CHANNELS } from '../src/messages/message.js'
import { chooseLanguage, loadTexts, SUPPORTED_LANGUAGES } from '../src/messages/texts/catalogue.js'
import { backupMessage, codeMessage, mailHtml, noticeMessage } from '../src/messages/texts/compose.js'
import { en } from '../src/messages/texts/locales/en.js'
import { convertToGsm7 } from '../src/messages/texts/sms.js'

const application = { name: 'Vault', origin: 'sign-in.vault.example' }
const PURPOSES: readonly Purpose[] = ['sign-in', 'step-up', 'enrollment']
const NOTICES = Object.keys(en.notices) as Notice[]
const GSM_7 = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/

function strings(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  return Object.entries(value as object).flatMap(([key, inner]) => strings(inner, `${path}.${key}`))
}

/** The warning not to share a code, as the source of a regular expression. */
const WARNINGS: Readonly<Record<string, string>> = {
  ar: 'لا تشاركه',
  de: 'nicht weiter|Nicht weitergeben|Nicht teilen',
  en: "Don't share",
  es: 'No lo compartas',
  fr: 'Ne le communiquez à personne|Ne pas partager',
  it: 'Non condivider(lo|e)',
  ja: '教えないで',
  ko: '공유하지 마세요',
  nl: 'Deel hem (met niemand|niet)',
  pl: 'Nie udostępniaj',
  'pt-BR': 'Não (o )?compartilhe',
  'pt-PT': 'Não (o )?partilhe',
  tr: '[Pp]aylaşmayın',
  'zh-Hans': '请勿告诉',
}

/** Names up to the longest one that is allowed, also in letters for which an SMS holds 70 characters. */
const NAMES = [
  'Vault',
  'Krakowska Biblioteka',
  'Ärzte & Apotheken eG',
  '北海道信用金庫',
  'x'.repeat(40),
  '社'.repeat(40),
  '😀'.repeat(20),
]

/** How many segments an SMS takes: 160 characters of the GSM alphabet or 70 UTF-16 units; in several segments, fewer each. */
function segments(text: string): number {
  const isGsm = GSM_7.test(text)
  const units = isGsm ? text.length + (text.match(/[\^{}\\[~\]|€]/g)?.length ?? 0) : text.length
  const [one, each] = isGsm ? [160, 153] : [70, 67]
  return units <= one ? 1 : Math.ceil(units / each)
}

const PLACEHOLDERS: readonly [RegExp, readonly string[]][] = [
  [/^\.purposes\./, []],
  [/^\.code\.subject$/, ['{app}', '{code}']],
  [/^\.code\.text$/, ['{app}', '{code}', '{minutes}', '{purpose}']],
  [/^\.code\.call$/, ['{app}', '{code}', '{code}', '{details}', '{details}', '{purpose}', '{purpose}']],
  [/^\.signIn\./, []],
  [/^\.code\.short$/, ['{app}', '{code}', '{purpose}']],
  [/^\.code\.shortest$/, ['{app}', '{code}']],
  [/^\.dir$/, []],
  [/^\.spokenLine$/, ['{line}']],
  [/^\.backup\.subject$/, ['{app}']],
  [/^\.backup\.text$/, ['{app}', '{codes}']],
  [/^\.notices\.locked\.text$/, ['{app}', '{minutes}']],
]

/** The texts in a language, and how it writes a message. */
function inLanguage(language: (typeof SUPPORTED_LANGUAGES)[number]) {
  const recipient = (channel: (typeof CHANNELS)[number]) => ({ channel, to: 'x', locale: language }) as const
  const spoken = (channel: (typeof CHANNELS)[number], purpose: Purpose, secondsLeft = 300) =>
    codeMessage(application, recipient(channel), { code: '012345', purpose, secondsLeft })
  return { language, texts: loadTexts(language), recipient, spoken }
}

/** A test that runs a check for each language. */
const everyLanguage = (check: (one: ReturnType<typeof inLanguage>) => void) => () =>
  everyCase(SUPPORTED_LANGUAGES, (language) => check(inLanguage(language)))

test(
  'has every text, with exactly the expected placeholders',
  everyLanguage(({ texts }) => {
    expect(
      strings(texts)
        .map(([path]) => path)
        .sort(),
    ).toEqual(
      strings(en)
        .map(([path]) => path)
        .sort(),
    )
    for (const [path, text] of strings(texts)) {
      const placeholders = text.match(/\{\w+\}/g) ?? []
      const wanted = PLACEHOLDERS.find(([rule]) => rule.test(path))?.[1]
      // A notice may name the application twice.
      if (wanted) expect([path, [...placeholders].sort()]).toEqual([path, wanted])
      else expect([path, [...new Set(placeholders)]]).toEqual([path, ['{app}']])
    }
  }),
)

test(
  'a code message names the app, the purpose and the minutes, and has no address (R45)',
  everyLanguage(({ texts, recipient, spoken }) => {
    for (const purpose of PURPOSES) {
      expect(texts.purposes[purpose]).not.toBe('')
      for (const channel of CHANNELS) {
        const { subject, text } = spoken(channel, purpose)
        const without = text.replace(/\n\n@sign-in\.vault\.example #012345\n?$/, '')
        expect(text).toContain('Vault')
        expect(text).toContain(
          channel === 'sms' ? convertToGsm7(texts.purposes[purpose]) : texts.purposes[purpose],
        )
        expect(subject + text).not.toMatch(/[{}\u00a0\u202f]|undefined/)
        expect(without).not.toMatch(/https?:|www\.|\.example|@|\/\//)
        if (channel === 'email' || channel === 'whatsapp') expect(text).toMatch(/\b5(?!\d)/)
        if (channel !== 'call') expect(text.startsWith('012345')).toBe(true)
      }
    }
    for (const purpose of PURPOSES) {
      const challenge = { code: '012345', purpose, secondsLeft: 300 }
      const { text } = codeMessage({ name: 'Vault', origin: undefined }, recipient('sms'), challenge)
      expect(text).toMatch(/\b5(?!\d)/)
    }
  }),
)

test(
  'an email with the code of a sign-in after a password says what an unexpected code means, with time, browser and place',
  everyLanguage(({ texts, recipient }) => {
    const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const
    const signIn = { browser: 'Firefox', system: 'Windows', location: 'Lyon, France' }
    const now = Date.UTC(2027, 2, 1, 13, 5)
    const written = (channel: (typeof CHANNELS)[number], from: typeof signIn | object | undefined) =>
      codeMessage(application, recipient(channel), { ...challenge, now, ...(from && { signIn: from }) }).text
    const { warning, ...labels } = texts.signIn
    const [, said, lines, last] = written('email', signIn).split('\n\n')
    expect(said).toBe(warning)
    expect(lines?.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${labels.time}: .*2027.* UTC$`)),
      `${labels.browser}: Firefox, Windows`,
      `${labels.place}: Lyon, France`,
    ])
    expect(lines).not.toMatch(/[\u00a0\u202f]/)
    expect(last).toMatch(/^@/)
    expect(written('email', {})).toContain(labels.time)
    expect(written('email', {})).not.toMatch(new RegExp(`${labels.browser}: |${labels.place}: `))
    // The words of the host about a place add no line, link or origin of its own.
    const odd = written('email', { ...signIn, location: 'Lyon\n\n@evil.example #1' })
    expect(odd.match(/^@/gm)).toHaveLength(1)
    expect(odd).not.toContain('evil.example')
    expect(written('email', undefined)).not.toContain(warning)
    for (const channel of CHANNELS.filter((other) => other !== 'email'))
      expect(written(channel, signIn)).toBe(written(channel, undefined))
  }),
)

test(
  'a call says who calls, what for and the code, and repeats both',
  everyLanguage(({ texts, recipient }) => {
    const challenge = { code: '012345', purpose: 'approval', secondsLeft: 300 } as const
    const named = [{ label: 'Amount', value: '250' }]
    const { text } = codeMessage(application, recipient('call'), { ...challenge, named })
    const order = [...text.matchAll(new RegExp(`Vault|Amount: 250|${texts.purposes.approval}|0, 1, 2`, 'g'))]
    const round = ['Amount: 250', texts.purposes.approval, '0, 1, 2']
    expect(order.map(([part]) => part)).toEqual(['Vault', ...round, ...round])
  }),
)

test(
  'every text with a code says not to share it (R45)',
  everyLanguage(({ language, texts }) => {
    const { subject: _subject, ...said } = texts.code
    const warning = new RegExp(WARNINGS[language] ?? 'no words are known')
    expect(Object.entries(said).filter(([, text]) => !warning.test(text))).toEqual([])
  }),
)

test(
  'an SMS is one segment, says not to share the code, and ends with the line for browsers (R45)',
  everyLanguage(({ language, recipient }) => {
    const words = WARNINGS[language] ?? 'no words are known'
    // A name in letters outside of the GSM alphabet leaves the words as they are.
    const warning = new RegExp(`${words}|${convertToGsm7(words)}`)
    const cases = PURPOSES.flatMap((purpose) =>
      NAMES.flatMap((name) => [6, 8, 10].map((digits) => [purpose, name, digits] as const)),
    )
    for (const [purpose, name, digits] of cases) {
      const challenge = { code: '0123456789'.slice(0, digits), purpose, secondsLeft: 600 }
      const { text } = codeMessage({ name, origin: undefined }, recipient('sms'), challenge)
      expect([text, segments(text)]).toEqual([text, 1])
      for (const origin of ['vault.example', `${'a'.repeat(29 - 2 * digits)}.example`]) {
        const { text } = codeMessage({ name, origin }, recipient('sms'), challenge)
        expect(text.endsWith(`\n\n@${origin} #${challenge.code}`)).toBe(true)
        expect([text, segments(text)]).toEqual([text, 1])
        expect(text).toMatch(warning)
        // At least the beginning of the name.
        expect(text).toContain(convertToGsm7([...name].slice(0, 4).join('').trim()))
      }
    }
  }),
)

test(
  'a call reads the digits one by one, twice, and contains no line for browsers',
  everyLanguage(({ spoken }) => {
    for (const purpose of PURPOSES) {
      const { text } = spoken('call', purpose)
      expect(text.match(/0, 1, 2, 3, 4, 5/g)).toHaveLength(2)
      expect(text).not.toContain('012345')
      expect(text).not.toMatch(/@|#|\n/)
    }
  }),
)

test(
  'emails have the same content as text and as HTML, without links, images or scripts',
  everyLanguage(({ language, recipient, spoken }) => {
    const mails = [
      ...PURPOSES.map((purpose) => spoken('email', purpose)),
      backupMessage(application, recipient('email'), ['AAAA-BBBB', 'CCCC-DDDD']),
      ...NOTICES.map((notice) => noticeMessage(application, recipient('email'), notice, 1_800)),
    ]
    for (const mail of mails) {
      const { subject, text } = mail
      const html = mailHtml(mail)
      expect(subject).toMatch(/^[^\p{Cc}{}]{1,100}$/u)
      expect(html).toContain(`lang="${language}"`)
      expect(html).not.toMatch(/<(a|img|script|link|iframe|form|svg)\b|https?:|url\(|src=|href=/i)
      const seen = html.replace(/<br>/g, '\n').replace(/<[^>]*>/g, ' ')
      const words = (of: string) => of.replaceAll('&#39;', "'").split(/\s+/).filter(Boolean)
      const forReaders = text.replace('@sign-in.vault.example #012345\n', '')
      expect(words(seen)).toEqual(expect.arrayContaining(words(forReaders)))
      expect(seen).not.toContain('#012345')
    }
  }),
)

test(
  'an email with a code ends with the line that text messages end with, from which programs fill it in',
  everyLanguage(({ recipient, spoken }) => {
    for (const purpose of PURPOSES) {
      const lines = spoken('email', purpose).text.split('\n')
      expect(lines.slice(-3)).toEqual(['', '@sign-in.vault.example #012345', ''])
      const challenge = { code: '012345', purpose, secondsLeft: 300 }
      const { text } = codeMessage({ name: 'Vault', origin: undefined }, recipient('email'), challenge)
      expect(text).not.toMatch(/^@/m)
    }
    for (const other of [
      backupMessage(application, recipient('email'), ['AAAA-BBBB']),
      noticeMessage(application, recipient('email'), 'locked', 1_800),
    ]) {
      expect(other.text).not.toMatch(/^@/m)
    }
  }),
)

test(
  'an email in HTML fits phones and dark mode, and codes run from left to right',
  everyLanguage(({ language, recipient, spoken }) => {
    const html = mailHtml(spoken('email', 'sign-in'))
    expect(html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`)
    expect(html).toContain('<meta name="viewport" content="width=device-width,initial-scale=1">')
    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(html).toContain('@media (prefers-color-scheme:dark)')
    expect(html).toContain('<bdi dir="ltr">012345</bdi>')
    // The list of emails shows the first sentence, which the email hides.
    expect(html).toMatch(/<body[^>]*><div aria-hidden="true" style="display:none[^>]*>[^<]*Vault/)
    const backup = backupMessage(application, recipient('email'), ['AAAA-BBBB', 'CCCC-DDDD'])
    expect(mailHtml(backup)).toMatch(/<p [^>]*dir="ltr"[^>]*>AAAA-BBBB<br>CCCC-DDDD<\/p>/)
  }),
)

test(
  'is translated',
  everyLanguage(({ language, texts }) => {
    if (language === 'en') return
    const same = strings(texts).filter(
      ([path, text]) => text.length > 16 && text === Object.fromEntries(strings(en))[path],
    )
    expect(same).toEqual([])
  }),
)

test(
  'no application name adds a line, markup or a control character',
  everyLanguage(({ recipient }) => {
    const hostile = '\r\n\n@evil.example #999999\n<b>"A\'&B</b>\u2028\u0007\u202e\u0000 🔐{code}$&'
    const named = { ...application, name: hostile }
    const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const
    for (const channel of CHANNELS) {
      const messages = [
        codeMessage(named, recipient(channel), challenge),
        noticeMessage(named, recipient(channel), 'locked', 1_800),
      ]
      for (const message of messages) {
        const { subject, text } = message
        const html = mailHtml(message)
        expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u)
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u)
        // The name is cut in a code SMS, which is one segment.
        const isCut = channel === 'sms' && text.includes('#012345')
        expect(text).toContain(isCut ? 'evil.example' : '<b>"A\'&B</b> 🔐{code}$&')
        expect(text.split('\n').filter((line) => line.startsWith('@'))).toEqual(
          ['sms', 'email'].includes(channel) && text.includes('#012345')
            ? ['@sign-in.vault.example #012345']
            : [],
        )
        expect(html).not.toContain('<b>')
        expect(html).toMatch(/&lt;b&gt;&quot;A'&amp;B.*\$&amp;/)
      }
    }
  }),
)

test('a code that expires in one second is announced with one minute', () => {
  const challenge = { code: '012345', purpose: 'sign-in', secondsLeft: 1 } as const
  expect(codeMessage(application, { channel: 'sms', to: 'x', locale: 'en' }, challenge).text).toContain(
    'in 1 minute.',
  )
})

test('converts a text to the GSM alphabet', () =>
  everyCase(
    [
      ['Não é “isso” — açúcar…', 'Nao é "isso" - acucar...'],
      ['código à l’œuvre', 'código à l’œuvre'],
      ['Grüße, ñ, 5 €', 'Grüße, ñ, 5 €'],
      ['コード', 'コード'],
      ['a🔐', 'a🔐'],
    ],
    ([text, written]) => {
      expect(convertToGsm7(text)).toBe(written)
    },
  ))

test('chooses the first language that exists', () =>
  everyCase(
    [
      [['pt-BR', 'en'], 'pt-BR'],
      [['DE', 'en'], 'de'],
      [[undefined, null, 'fr'], 'fr'],
      [['tlh', 'ja-JP'], 'ja'],
      [['constructor', 'tlh'], 'en'],
    ],
    ([wanted, chosen]) => {
      expect(chooseLanguage(...wanted)).toBe(chosen)
    },
  ))
