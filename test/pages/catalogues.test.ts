import { describe, expect, it } from 'vitest'
import { inTime } from '../../src/pages/duration.js'
import { en } from '../../src/pages/locales/en.js'
import { catalogues, pickLocale, textFor } from '../../src/pages/text.js'

/** Every phrase of a catalogue by its path; the forms of a plural are one phrase. */
function phrases(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  if ('other' in value) return Object.values(value).map((form) => [path, String(form)] as const)
  return Object.entries(value).flatMap(([key, part]) => phrases(part, `${path}.${key}`))
}

const placeholders = (phrase: string) => [...phrase.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
const english = new Map(phrases(en))

describe.each([...catalogues.keys()])('the catalogue %s', (locale) => {
  const catalogue = catalogues.get(locale)?.()

  it('has the keys of the English one', () => {
    expect([...new Set(phrases(catalogue).map(([path]) => path))]).toEqual([...english.keys()])
  })

  it('uses the placeholders of the English one', () => {
    for (const [path, phrase] of phrases(catalogue)) {
      // A language may name the app where English need not, and words such as "two" can replace the number.
      const isOptional = (name: string) => name === '{app}' || (name === '{count}' && !phrase.includes(name))
      const [theirs, ours] = [placeholders(phrase), placeholders(english.get(path) ?? '')]
      const without = (names: readonly string[]) => names.filter((name) => !isOptional(name))
      expect(without(theirs), path).toEqual(without(ours))
    }
  })

  it('has no phrase that is empty or has surrounding spaces', () => {
    for (const [path, phrase] of phrases(catalogue)) expect(phrase, path).toMatch(/^\S(.*\S)?$/)
  })

  it('differs from the English one', () => {
    const own = new Map(phrases(catalogue))
    const same = [...english].filter(([path, phrase]) => phrase.length > 24 && own.get(path) === phrase)
    expect(locale === 'en' ? [] : same).toEqual([])
  })
})

describe('the language of a page', () => {
  it.each([
    [['de-CH', 'en'], 'de'],
    [['PT-br'], 'pt-br'],
    [['zh-Hant-TW', 'ja-JP', 'en'], 'ja'],
    [['es_419'], 'es'],
    [['*'], 'en'],
    [['constructor', '__proto__', ''], 'en'],
    [[], 'en'],
  ])('for %j is %s', (wishes, locale) => {
    expect(pickLocale(wishes, catalogues)).toBe(locale)
  })

  it.each([
    ['one wish', [`de${'-a'.repeat(7_500)}`]],
    ['many wishes', ['de-AT', ...Array.from({ length: 5_000 }, (_, i) => `x${i}`)].reverse()],
  ])('takes little time to find, whatever is sent: %s', (_what, wishes) => {
    let looks = 0
    const has = (key: string) => {
      looks++
      expect(key.length).toBeLessThanOrEqual(35)
      return catalogues.has(key)
    }
    pickLocale(wishes, { has })
    expect(looks).toBeLessThan(600)
  })

  it('has plural forms', () => {
    const { words, count } = textFor(['de'], catalogues)
    expect(count(words.attemptsLeft, 1).markup).toBe('Sie haben noch 1 Versuch.')
    expect(count(words.attemptsLeft, 3).markup).toBe('Sie haben noch 3 Versuche.')
  })
})

describe('a wait in words', () => {
  it.each([
    [0, 'in 1 second'],
    [29.2, 'in 30 seconds'],
    [90, 'in 90 seconds'],
    [91, 'in 2 minutes'],
    [600, 'in 10 minutes'],
    [5401, 'in 2 hours'],
    [86_400, 'in 24 hours'],
    [3 * 86_400, 'in 3 days'],
  ])('of %d seconds is "%s"', (seconds, words) => {
    expect(inTime('en', seconds)).toBe(words)
  })

  it('follows the language', () => {
    expect(inTime('de', 3 * 86_400)).toBe('in 3 Tagen')
    expect(inTime('fr', 120)).toBe('dans 2 minutes')
  })
})
