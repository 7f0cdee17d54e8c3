import { describe, expect, it } from 'vitest'
import { formatWait } from '../../src/pages/duration.js'
import { en } from '../../src/pages/locales/en.js'
import { noticeCatalogues } from '../../src/pages/notices/compose.js'
import { en as notices } from '../../src/pages/notices/locales/en.js'
import { catalogues, pickText } from '../../src/pages/text.js'
import { pickLocale } from '../../src/protocol/language.js'
import { everyCase } from '../kit/every-case.js'

/** Every phrase of a catalogue by its path; the forms of a plural are one phrase. */
function phrases(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  if ('other' in value) return Object.values(value).map((form) => [path, String(form)] as const)
  return Object.entries(value).flatMap(([key, part]) => phrases(part, `${path}.${key}`))
}

const placeholders = (phrase: string) => [...phrase.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

/** Every phrase with plural forms, by its path. */
function plurals(value: unknown, path = ''): readonly (readonly [string, ReadonlyMap<string, string>])[] {
  if (typeof value !== 'object' || value === null) return []
  if ('other' in value) {
    return [[path, new Map(Object.entries(value).map(([form, phrase]) => [form, String(phrase)]))]]
  }
  return Object.entries(value).flatMap(([key, part]) => plurals(part, `${path}.${key}`))
}

const CATALOGUES = {
  pages: { all: catalogues, english: en },
  notices: { all: noticeCatalogues, english: notices },
}

/** The catalogues of these languages, or of all. */
const cataloguesOf = (keys?: readonly string[]) =>
  Object.entries(CATALOGUES).flatMap(([name, { all, english }]) =>
    [...all.keys()]
      .filter((key) => keys?.includes(key) ?? true)
      .map((key) => ({ name, key, texts: all.get(key)?.(), english: new Map(phrases(english)) })),
  )
type Catalogue = ReturnType<typeof cataloguesOf>[number]

/** A test that runs a check for each of them. */
const everyCatalogue = (check: (one: Catalogue) => void, keys?: readonly string[]) => () => {
  const named = new Map(cataloguesOf(keys).map((one) => [`${one.name} in ${one.key}`, one]))
  return everyCase(named.keys(), (name) => {
    const one = named.get(name)
    if (one) check(one)
  })
}

const TRANSLATED = cataloguesOf()
  .map(({ key }) => key)
  .filter((key) => key !== 'en')

describe('each catalogue of pages and of notices', () => {
  it(
    'has the keys of the English one',
    everyCatalogue(({ texts, english }) => {
      const paths = [...new Set(phrases(texts).map(([path]) => path))]
      expect(paths.sort()).toEqual([...english.keys()].sort())
    }),
  )

  it(
    'uses the placeholders of the English one',
    everyCatalogue(({ texts, english }) => {
      const exact = new Set(
        plurals(texts).flatMap(([, forms]) => ['zero', 'one', 'two'].map((form) => forms.get(form))),
      )
      for (const [path, phrase] of phrases(texts)) {
        // A language may name the app where English need not, and words such as "two" can replace the number.
        const isOptional = (name: string) => name === '{app}' || (name === '{count}' && exact.has(phrase))
        const [theirs, ours] = [placeholders(phrase), placeholders(english.get(path) ?? '')]
        const without = (names: readonly string[]) => names.filter((name) => !isOptional(name))
        expect(without(theirs), path).toEqual(without(ours))
      }
    }),
  )

  it(
    'has the plural forms of its language',
    everyCatalogue(({ key, texts }) => {
      const rules = new Intl.PluralRules(key)
      const categories = new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)))
      for (const [path, forms] of plurals(texts)) {
        expect([...forms.keys()], path).toEqual(expect.arrayContaining([...categories]))
      }
    }),
  )

  it(
    'has no phrase that is empty or has surrounding spaces',
    everyCatalogue(({ texts }) => {
      for (const [path, phrase] of phrases(texts)) expect(phrase, path).toMatch(/^\S(.*\S)?$/)
    }),
  )

  it(
    'that is translated has no phrase left in English',
    everyCatalogue(({ texts, english }) => {
      const own = new Map(phrases(texts))
      const same = [...english].filter(([path, phrase]) => phrase.length > 24 && own.get(path) === phrase)
      expect(same).toEqual([])
    }, TRANSLATED),
  )

  it(
    'in Arabic, Chinese, Japanese or Korean has no words in Latin letters',
    everyCatalogue(
      ({ texts }) => {
        for (const [path, phrase] of phrases(texts)) {
          if (path === '.dir') continue
          expect(phrase.replace(/\{\w+\}|WhatsApp|QR|SMS|IP/g, ''), path).not.toMatch(/[a-z]{2}/i)
        }
      },
      ['ar', 'ja', 'ko', 'zh-hans'],
    ),
  )

  it(
    'in Japanese has no spaces between its characters',
    everyCatalogue(
      ({ texts }) => {
        for (const [path, phrase] of phrases(texts))
          expect(phrase, path).not.toMatch(/[\u3040-\u30ff\u4e00-\u9fff] | [\u3040-\u30ff\u4e00-\u9fff]/)
      },
      ['ja'],
    ),
  )

  it(
    'in Chinese has no spaces between its characters and the name of the app',
    everyCatalogue(
      ({ texts }) => {
        for (const [path, phrase] of phrases(texts))
          expect(phrase, path).not.toMatch(
            /[\u4e00-\u9fff] ([\u4e00-\u9fff]|\{app\})|\{app\} [\u4e00-\u9fff]/,
          )
      },
      ['zh-hans'],
    ),
  )
})

it('a language from right to left isolates names, which mostly are Latin, from the text around them', () => {
  for (const [key, load] of catalogues) {
    const words = load()
    for (const [path, phrase] of phrases(words)) {
      const bare = phrase.replaceAll(/\u2068\{(app|browser|system|name)\}\u2069/g, '')
      if (words.dir === 'rtl') expect(bare, path).not.toMatch(/\{(app|browser|system|name)\}/)
      else expect(phrase, `${path} in ${key}`).not.toMatch(/[\u2068\u2069]/)
    }
  }
})

describe('the language of a page', () => {
  it('is the best match of the wishes', () =>
    everyCase(
      [
        [['de-CH', 'en'], 'de'],
        [['PT-br'], 'pt-br'],
        [['zh-Hant-TW', 'ja-JP', 'en'], 'ja'],
        [['es_419'], 'es'],
        [['*'], 'en'],
        [['constructor', '__proto__', ''], 'en'],
        [[], 'en'],
      ],
      ([wishes, locale]) => {
        expect(pickLocale(wishes, catalogues)).toBe(locale)
      },
    ))

  it('takes little time to find, whatever is sent', () =>
    everyCase(
      [
        ['one wish', [`de${'-a'.repeat(7_500)}`]],
        ['many wishes', ['de-AT', ...Array.from({ length: 5_000 }, (_, i) => `x${i}`)].reverse()],
      ],
      ([_what, wishes]) => {
        let looks = 0
        const has = (key: string) => {
          looks++
          expect(key.length).toBeLessThanOrEqual(35)
          return catalogues.has(key)
        }
        pickLocale(wishes, { has })
        expect(looks).toBeLessThan(600)
      },
    ))

  it('has the plural forms of its language', () =>
    everyCase(
      [
        ['de', 1, 'Sie haben noch 1 Versuch.'],
        ['de', 3, 'Sie haben noch 3 Versuche.'],
        ['pl', 1, 'Masz jeszcze 1 próbę.'],
        ['pl', 3, 'Masz jeszcze 3 próby.'],
        ['pl', 5, 'Masz jeszcze 5 prób.'],
        ['pl', 22, 'Masz jeszcze 22 próby.'],
        ['ar', 1, 'بقيت لديك محاولة واحدة.'],
        ['ar', 2, 'بقيت لديك محاولتان.'],
        ['ar', 4, 'بقيت لديك 4 محاولات.'],
        ['ar', 11, 'بقيت لديك 11 محاولة.'],
        ['ko', 3, '3번 더 시도할 수 있습니다.'],
      ],
      ([locale, number, sentence]) => {
        const { words, count } = pickText([locale], catalogues)
        expect(count(words.attemptsLeft, number).markup).toBe(sentence)
      },
    ))
})

describe('a wait in words', () => {
  it('is given in the unit that fits', () =>
    everyCase(
      [
        [0, 'in 1 second'],
        [29.2, 'in 30 seconds'],
        [90, 'in 90 seconds'],
        [91, 'in 2 minutes'],
        [600, 'in 10 minutes'],
        [5401, 'in 2 hours'],
        [86_400, 'in 24 hours'],
        [3 * 86_400, 'in 3 days'],
      ],
      ([seconds, words]) => {
        expect(formatWait('en', seconds)).toBe(words)
      },
    ))

  it('follows the language', () => {
    expect(formatWait('de', 3 * 86_400)).toBe('in 3 Tagen')
    expect(formatWait('fr', 120)).toBe('dans 2 minutes')
  })
})
