import type { OwnTexts } from '../../accounts/application.js'
import { isObject, readObject } from '../../json.js'
import { chooseLanguage, isSupportedLanguage, SUPPORTED_LANGUAGES } from './catalogue.js'
import { en } from './locales/en.js'
import type { MessageTexts } from './message-texts.js'

const MAX_LENGTH = 1_000

/** The texts of a language with those that the application replaced. */
export function mergeOwnTexts(texts: MessageTexts, language: string, own: OwnTexts = {}): MessageTexts {
  const [, replaced] = Object.entries(own).find(([tag]) => chooseLanguage(tag) === language) ?? []
  return replaced ? (mergeTexts(texts, replaced) as MessageTexts) : texts
}

function mergeTexts(base: object, replaced: object): object {
  const pairs = Object.entries(base).map(([key, text]: [string, unknown]) => {
    const own = Object.hasOwn(replaced, key) ? readObject(replaced)[key] : undefined
    return [key, isObject(text) ? mergeTexts(text, readObject(own)) : (own ?? text)]
  })
  return Object.fromEntries(pairs)
}

/** Everything that is wrong with an application's own texts, each with the path of the text. */
export function findFaultsInOwnTexts(given: unknown): readonly string[] {
  if (!isObject(given)) return ['texts must be an object like { "en": { "code": { "text": "…" } } }']
  const languages = Object.keys(given)
  const twice = languages.find((tag, index) => languages.some((other, at) => at < index && means(other, tag)))
  if (twice !== undefined) return [`texts.${twice} is a language that texts has already under another tag`]
  return languages.flatMap((tag) =>
    isSupportedLanguage(tag)
      ? findFaults(given[tag], REPLACEABLE, `texts.${tag}`)
      : [`texts.${tag} is not a language of the messages: use ${SUPPORTED_LANGUAGES.join(', ')}`],
  )
}

const { dir: _dir, ...REPLACEABLE } = en

function means(one: string, other: string): boolean {
  return isSupportedLanguage(one) && chooseLanguage(one) === chooseLanguage(other)
}

/** Compares texts with the English ones. */
function findFaults(given: unknown, english: object, path: string): string[] {
  if (given === undefined) return []
  if (!isObject(given)) return [`${path} must be an object with texts`]
  return Object.entries(given).flatMap(([key, text]) => {
    const ours = Object.hasOwn(english, key) ? readObject(english)[key] : undefined
    if (ours === undefined) {
      return [`${path}.${key} is not the name of a text: use one of ${Object.keys(english).join(', ')}`]
    }
    return typeof ours === 'string'
      ? findTextFaults(text, ours, `${path}.${key}`)
      : findFaults(text, readObject(ours), `${path}.${key}`)
  })
}

function findTextFaults(text: unknown, english: string, path: string): string[] {
  if (text === undefined) return []
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_LENGTH) {
    return [`${path} must be text of 1 to ${MAX_LENGTH} characters`]
  }
  // A line that begins with @ would tell browsers which site a code is for, and a subject is one line (R88).
  const control = path.endsWith('.subject') ? /\p{Cc}/u : /[^\P{Cc}\n]/u
  if (control.test(text)) return [`${path} must not contain control characters`]
  if (/^\s*@/m.test(text)) return [`${path} must not have a line that begins with @`]
  const [theirs, ours] = [listPlaceholders(text), listPlaceholders(english)]
  const missing = ours.filter((name) => !theirs.includes(name))
  const unknown = theirs.filter((name) => !ours.includes(name))
  return [
    ...(missing.length > 0 ? [`${path} must contain ${missing.join(' and ')}`] : []),
    ...(unknown.length > 0
      ? [`${path} must not contain ${unknown.join(' and ')}${describeAllowed(ours)}`]
      : []),
  ]
}

function describeAllowed(names: readonly string[]): string {
  return names.length > 0 ? `: use only ${names.join(' and ')}` : ': it has no placeholders'
}

function listPlaceholders(text: string): string[] {
  return [...new Set(text.match(/\{\w+\}/g) ?? [])]
}
