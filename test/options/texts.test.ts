import { describe, expect, it } from 'vitest'
import type { MfaTexts, PageCatalogue } from '../../src/index.js'
import { en } from '../../src/pages/locales/en.js'
import { catalogues } from '../../src/pages/text.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { faultsOf } from './read.js'

const german = catalogues.get('de')?.() ?? en

/** The page on which alice chooses a factor, with texts of the host. */
async function chooser(texts: MfaTexts | undefined, language: string): Promise<string> {
  const { app } = host({ options: { languages: { texts } } })
  const agent = browserAgent(app).set('Accept-Language', language)
  await login(agent, 'alice').type('form')
  return (await agent.get('/mfa').expect(200)).text
}

describe('texts of a host', () => {
  const texts = {
    en: { choose: { title: 'Is it <you>?', lead: undefined, act: { sms: 'Text it to {to}' } } },
    'de-CH': { choose: { title: 'Sind Sie es?' } },
    fr: undefined,
  }

  it('replace single texts, escaped and with placeholders filled in', async () => {
    const page = await chooser(texts, 'en')
    expect(page).toContain('<h1>Is it &lt;you&gt;?</h1>')
    expect(page).toMatch(/Text it to <bdi[^>]*>••• 01<\/bdi>/)
    expect(page).toContain('One more step to sign in to Testbed.')
  })

  it('for a region inherit the host’s texts for its language, in any order', async () => {
    const swiss = { 'de-CH': { choose: { none: 'Nichts da' } }, de: { choose: { title: 'Sind Sie es?' } } }
    expect(await chooser(swiss, 'de-CH')).toContain('<h1>Sind Sie es?</h1>')
  })

  it('for a region inherit our texts for its language, and do not change those', async () => {
    expect(await chooser(texts, 'de-CH')).toContain('<h1>Sind Sie es?</h1>')
    expect(await chooser(texts, 'de-CH')).toContain(german.choose.act.sms.split('{to}')[0] ?? '')
    expect(await chooser(texts, 'de-DE')).toContain(`<h1>${german.choose.title}</h1>`)
  })

  it('can add a language, also one that is written from right to left', async () => {
    const ar: PageCatalogue = { ...en, dir: 'rtl', choose: { ...en.choose, title: 'تأكيد هويتك' } }
    const page = await chooser({ ar }, 'ar-EG')
    expect(page).toContain('<html lang="ar" dir="rtl">')
    expect(page).toContain('<h1>تأكيد هويتك</h1>')
  })

  it('can leave out the name of the app, and the number where a word says it', async () => {
    const own = {
      en: { leave: { back: 'Back to the shop' }, attemptsLeft: { one: 'This is your last attempt.' } },
    }
    expect(faultsOf({ languages: { texts: own } })).toEqual([])
  })

  it('for "pt" and "zh" are those of Brazil and of simplified Chinese', async () => {
    const own = { pt: { choose: { title: 'É você?' } }, zh: { choose: { title: '是您吗？' } } }
    expect(await chooser(own, 'pt-BR')).toContain('<html lang="pt-BR" dir="ltr">')
    expect(await chooser(own, 'pt-BR')).toContain('<h1>É você?</h1>')
    expect(await chooser(own, 'zh-CN')).toContain('<h1>是您吗？</h1>')
    expect(await chooser(own, 'zh-TW')).toContain('<html lang="en"')
    expect(await chooser(own, 'pt-AO')).toContain('<html lang="pt-PT"')
  })

  it('do not affect another app in the same process', async () => {
    await chooser(texts, 'en')
    expect(await chooser(undefined, 'en')).toContain(`<h1>${en.choose.title}</h1>`)
  })
})

describe('invalid texts (R18)', () => {
  const { dir: _dir, choose, ...rest } = en

  it('are reported with their path: case %#', () =>
    everyCase(
      [
        [7, 'texts must be an object like { en: { … } }'],
        [{ en: 'Hello' }, 'texts.en must be an object with texts'],
        [
          { en: { choose: { titel: 'Is it you?' } } },
          'texts.en.choose.titel is not the name of a text; check',
        ],
        [{ en: { chose: {} } }, 'texts.en.chose is not the name of a text; check its spelling'],
        [{ en: { constructor: 'x' } }, 'texts.en.constructor is not the name of a text; check its spelling'],
        [JSON.parse('{"en":{"__proto__":{"x":"y"}}}'), 'texts.en.__proto__ is not the name of a text;'],
        [{ de: { choose: { title: 7 } } }, 'texts.de.choose.title must be text'],
        [{ de: { choose: { title: ' ' } } }, 'texts.de.choose.title must be text'],
        [
          { de: { choose: { title: 'Hallo {name}' } } },
          'texts.de.choose.title must not contain {name}; it has no placeholders',
        ],
        [
          { de: { choose: { act: { sms: '{too}' } } } },
          'texts.de.choose.act.sms must not contain {too}; use only {to}',
        ],
        [{ en: { attemptsLeft: { one: '{n} left' } } }, 'one must not contain {n}; use only {count}'],
        [{ en: { attemptsLeft: { some: 'x' } } }, 'texts.en.attemptsLeft.some is not the name of a text'],
        [{ fr: { code: { expires: 'Bientôt expiré' } } }, 'texts.fr.code.expires must contain {in}'],
        [{ en: { attemptsLeft: { other: 'Some attempts' } } }, 'attemptsLeft.other must contain {count}'],
        [
          { 'zh-TW': { later: '稍後' } },
          'texts.zh-TW is not a built-in language, so it needs every text; missing: ',
        ],
        [{ en: { dir: 'up' } }, 'texts.en.dir must be "ltr" or "rtl"'],
        [
          { en: { notices: { what: { moved: 'x' } } } },
          'texts.en.notices.what.moved is not the name of a text',
        ],
        [
          { en: { notices: { when: '{time}' } } },
          'texts.en.notices.when must not contain {time}; use only {value}',
        ],
        [{ sv: { ...en, notices: { when: '{value}' } } }, 'missing: notices.subject.factor_added, '],
        [
          { sv: { notices: {} } },
          'texts.sv is not a built-in language, so it needs every text; missing: dir, ',
        ],
        [{ n_l: en }, 'texts.n_l is not a language tag like nl'],
        [
          { sv: rest },
          'texts.sv is not a built-in language, so it needs every text; missing: dir, choose.title, choose.lead',
        ],
        [{ sv: { ...rest, dir: 'ltr', choose: { ...choose, none: undefined } } }, 'missing: choose.none'],
        [{ sv: { ...en, attemptsLeft: { one: '1' } } }, 'missing: attemptsLeft.other'],
      ],
      ([texts, fault]) => {
        const faults = faultsOf({ languages: { texts } })
        expect(faults).toEqual([expect.stringMatching(/^languages\.texts[. ]/)])
        expect(faults[0]).toContain(fault)
      },
    ))

  it('are reported all at once', () => {
    const texts = { en: { choose: { titel: '', none: '{x}' } }, de: { later: 1 } }
    expect(faultsOf({ languages: { texts } })).toHaveLength(3)
  })
})
