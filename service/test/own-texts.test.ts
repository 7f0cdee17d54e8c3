import { describe, expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { codeMessage, mailHtml, noticeMessage } from '../src/messages/texts/compose.js'
import { findFaultsInOwnTexts } from '../src/messages/texts/own-texts.js'

const sign = { code: '012345', purpose: 'sign-in', secondsLeft: 300 } as const

/** The message with a code in an application with these texts. */
function message(texts: Record<string, object>, locale: string, channel: 'sms' | 'email' = 'email') {
  // The settings have checked them.
  const application = {
    name: 'Vault',
    origin: undefined,
    texts: texts as Record<string, { code: { text: string } }>,
  }
  return codeMessage(application, { channel, to: 'x', locale }, sign)
}

describe('an application’s own texts', () => {
  const text = 'Ihr {app}-Code {purpose}: {code}. {minutes} gültig, <nur> für Sie.'

  test('replace single texts in their language, with their placeholders filled in', () => {
    const written = message({ de: { code: { text } } }, 'de-AT')
    expect(written.text).toBe('Ihr Vault-Code zum Anmelden: 012345. 5 Minuten gültig, <nur> für Sie.\n')
    expect(mailHtml(written)).toContain('&lt;nur&gt;')
    expect(written.subject).toBe('012345 ist Ihr Code für Vault')
    expect(message({ de: { code: { text } } }, 'fr').text).toContain('est votre code Vault')
  })

  test('for "pt" are those of Brazil', () => {
    const own = { pt: { code: { subject: '{app}: código {code}' } } }
    expect(message(own, 'pt-BR').subject).toBe('Vault: código 012345')
    expect(message(own, 'pt-PT').subject).toBe('012345 é o seu código de Vault')
  })

  test('make way for our shorter ones where they would take two segments of an SMS', () => {
    const long = `{code} {app} {purpose} {minutes} ${'sehr '.repeat(30)}lang`
    expect(message({ de: { code: { text: long } } }, 'de', 'sms').text).toBe(
      '012345: Vault-Code zum Anmelden. Nicht weitergeben.',
    )
  })

  test('can be those of a notice', () => {
    const texts = { en: { notices: { locked: { text: '{app} is locked for {minutes}. Call 0800 123.' } } } }
    const recipient = { channel: 'sms', to: 'x', locale: 'en' } as const
    const { text } = noticeMessage({ name: 'Vault', origin: undefined, texts }, recipient, 'locked', 1_800)
    expect(text).toBe('Vault is locked for 30 minutes. Call 0800 123.')
  })
})

test('own texts of another form are a fault', () =>
  everyCase(
    [
      [7, 'texts must be an object like'],
      [{ tlh: {} }, 'texts.tlh is not a language of the messages: use ar, de'],
      [{ 'zh-TW': {} }, 'texts.zh-TW is not a language of the messages'],
      [{ pt: {}, 'pt-BR': {} }, 'texts.pt-BR is a language that texts has already under another tag'],
      [{ de: 'x' }, 'texts.de must be an object with texts'],
      [
        { de: { dir: 'rtl' } },
        'texts.de.dir is not the name of a text: use one of purposes, code, spokenLine, signIn, backup, notices',
      ],
      [
        { de: { code: { txt: 'x' } } },
        'texts.de.code.txt is not the name of a text: use one of subject, text',
      ],
      [{ de: { constructor: 'x' } }, 'texts.de.constructor is not the name of a text'],
      [{ de: { code: { subject: '{code}' } } }, 'texts.de.code.subject must contain {app}'],
      [
        { de: { code: { subject: '{code} {app} {name}' } } },
        'must not contain {name}: use only {code} and {app}',
      ],
      [{ de: { purposes: { 'sign-in': '{app}' } } }, 'must not contain {app}: it has no placeholders'],
      [{ de: { code: { subject: '' } } }, 'texts.de.code.subject must be text of 1 to 1000 characters'],
      [{ de: { code: { subject: '{code}\n{app}' } } }, 'must not contain control characters'],
      [
        { de: { backup: { text: '{app} {codes}\n@evil.example' } } },
        'must not have a line that begins with @',
      ],
    ],
    ([texts, fault]) => {
      const [first, ...others] = findFaultsInOwnTexts(texts)
      expect(first).toContain(fault)
      expect(others).toEqual([])
    },
  ))
