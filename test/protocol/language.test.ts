import { describe, expect, it } from 'vitest'
import { languageKey, matchLanguage } from '../../src/protocol/language.js'
import { everyCase } from '../kit/every-case.js'

describe('the best matching language', () => {
  const all = new Set(['en', 'de', 'pt-br', 'pt-pt', 'zh-hans'])

  it('is found by the language or a part of it', () =>
    everyCase(
      [
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
      ],
      ([tag, key]) => {
        expect(matchLanguage([tag], all)).toBe(key)
      },
    ))

  it('for traditional Chinese is the next language that the user reads, not simplified Chinese', () =>
    everyCase(['zh-TW', 'zh-HK', 'zh-MO', 'zh-Hant', 'zh-Hant-TW'], (tag) => {
      expect(matchLanguage([tag, 'de'], all)).toBe('de')
      expect(matchLanguage([tag], all)).toBeUndefined()
      expect(matchLanguage([tag], new Set(['zh-hant', 'zh-hans']))).toBe('zh-hant')
    }))

  it('for one kind of Portuguese is the other one rather than another language', () => {
    expect(matchLanguage(['pt-PT', 'de'], new Set(['de', 'pt-br']))).toBe('pt-br')
    expect(matchLanguage(['pt', 'de'], new Set(['de', 'pt-pt']))).toBe('pt-pt')
  })
})

it('texts are kept under the canonical tag', () =>
  everyCase(
    [
      ['pt', 'pt-br'],
      ['pt-PT', 'pt-pt'],
      ['zh', 'zh-hans'],
      ['zh-TW', 'zh-tw'],
      ['de_CH', 'de-ch'],
      ['__proto__', '--proto--'],
    ],
    ([tag, key]) => {
      expect(languageKey(tag)).toBe(key)
    },
  ))
