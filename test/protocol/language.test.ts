import { describe, expect, it } from 'vitest'
import { languageKey, matchLanguage } from '../../src/protocol/language.js'

describe('the best matching language', () => {
  const all = new Set(['en', 'de', 'pt-br', 'pt-pt', 'zh-hans'])

  it.each([
    ['pt', 'pt-br'],
    ['pt-BR', 'pt-br'],
    ['pt-Latn-BR', 'pt-br'],
    ['pt-PT', 'pt-pt'],
    ['pt-AO', 'pt-pt'],
    ['pt_MZ', 'pt-pt'],
    ['zh', 'zh-hans'],
    ['zh-CN', 'zh-hans'],
    ['zh-SG', 'zh-hans'],
    ['zh-Hans-HK', 'zh-hans'],
    ['de-CH-1996', 'de'],
  ])('for %s is %s', (tag, key) => {
    expect(matchLanguage([tag], all)).toBe(key)
  })

  it.each(['zh-TW', 'zh-HK', 'zh-MO', 'zh-Hant', 'zh-Hant-TW'])(
    'for %s is the next language that the user reads, not simplified Chinese',
    (tag) => {
      expect(matchLanguage([tag, 'de'], all)).toBe('de')
      expect(matchLanguage([tag], all)).toBeUndefined()
      expect(matchLanguage([tag], new Set(['zh-hant', 'zh-hans']))).toBe('zh-hant')
    },
  )

  it('for one kind of Portuguese is the other one rather than another language', () => {
    expect(matchLanguage(['pt-PT', 'de'], new Set(['de', 'pt-br']))).toBe('pt-br')
    expect(matchLanguage(['pt', 'de'], new Set(['de', 'pt-pt']))).toBe('pt-pt')
  })
})

it.each([
  ['pt', 'pt-br'],
  ['pt-PT', 'pt-pt'],
  ['zh', 'zh-hans'],
  ['zh-TW', 'zh-tw'],
  ['de_CH', 'de-ch'],
  ['__proto__', '--proto--'],
])('the texts for %s are kept as %s', (tag, key) => {
  expect(languageKey(tag)).toBe(key)
})
