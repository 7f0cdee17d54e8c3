import { readObject } from '../json.js'
import { languageKey, matchLanguage, memoize } from '../protocol/language.js'
import type { Catalogue } from './locales/catalogue.js'
import { en as englishPages } from './locales/en.js'
import { type NoticeCatalogue, noticeCatalogues } from './notices/compose.js'
import { en as englishNotices } from './notices/locales/en.js'
import { catalogues, type TextsByLanguage } from './text.js'

/** All texts of one language. A language of the host can omit notices; they then use the user's next preferred language. */
interface AppCatalogue extends Catalogue {
  readonly notices?: NoticeCatalogue
}

/** The languages of an app: the built-in ones and the host's. */
export type AppLanguages = TextsByLanguage<AppCatalogue>

/** `Whole` with all members optional, at every level. */
type PartsOf<Whole> = { readonly [Part in keyof Whole]?: PartsOf<Whole[Part]> | undefined }

/**
 * The host's own texts by language (BCP 47). For a built-in language, or a region of one (`de-CH`), give only the texts
 * that differ. For another language give all texts, as a `PageCatalogue` with `notices` as a `NoticeCatalogue`.
 */
export type MfaTexts = Readonly<Record<string, PartsOf<AppCatalogue> | undefined>>

const ENGLISH = { ...englishPages, notices: englishNotices }

const builtIn = memoize((key: string): Required<AppCatalogue> => {
  const [pages, notices] = [catalogues.get(key), noticeCatalogues.get(key)]
  return { ...(pages?.() ?? englishPages), notices: notices?.() ?? englishNotices }
})

/** A fault in the host's texts. */
export interface TextFault {
  readonly path: readonly string[]
  readonly message: string
}

const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other']
const MAX_LISTED = 5

/** Merges the host's texts into the built-in languages, or returns all faults in them. */
export function readTexts(
  given: unknown,
): { readonly languages: AppLanguages } | { readonly faults: readonly TextFault[] } {
  if (!isObject(given)) return { faults: [{ path: [], message: 'must be an object like { en: { … } }' }] }
  const faults: TextFault[] = []
  const languages = new Map<string, () => AppCatalogue>(
    [...catalogues.keys()].map((key) => [key, () => builtIn(key)]),
  )
  // A language comes before its regions, which are based on it.
  const entries = Object.entries(given).sort(([one], [other]) => one.length - other.length)
  for (const [tag, texts] of entries) {
    if (texts === undefined) continue
    const baseKey = matchLanguage([tag], languages)
    const base = baseKey === undefined ? undefined : languages.get(baseKey)
    const found = isTag(tag)
      ? findFaults(texts, base === undefined)
      : [{ path: [], message: 'is not a language tag like nl or pt-BR' }]
    faults.push(...found.map(({ path, message }) => ({ path: [tag, ...path], message })))
    // It was compared with the English catalogue, so it has the right type.
    const withBase = memoize(() => mergeTexts(base?.() ?? {}, texts) as AppCatalogue)
    if (found.length === 0) languages.set(languageKey(tag), () => withBase(tag))
  }
  return faults.length > 0 ? { faults } : { languages }
}

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

function findFaults(texts: unknown, isNew: boolean): TextFault[] {
  const faults = compare(texts, [])
  if (faults.length > 0 || !isNew) return faults
  const { notices, ...pages } = ENGLISH
  const hasNotices = isObject(texts) && texts.notices !== undefined
  const missing = findMissingTexts(texts, hasNotices ? { ...pages, notices } : pages)
  if (missing.length === 0) return []
  const more = missing.length - MAX_LISTED
  const listed = missing.slice(0, MAX_LISTED).join(', ')
  const message = `is not a built-in language, so it needs every text; missing: ${listed}${more > 0 ? ` and ${more} more` : ''}`
  return [{ path: [], message }]
}

/** Compares the texts at `path` with the English ones and returns the faults. */
function compare(given: unknown, path: readonly string[]): TextFault[] {
  if (given === undefined) return []
  const english = getText(ENGLISH, path)
  if (english === undefined) return [{ path, message: 'is not the name of a text; check its spelling' }]
  if (typeof english === 'string') return comparePhrase(given, path)
  if (!isObject(given)) return [{ path, message: 'must be an object with texts' }]
  const isPlural = 'other' in english
  return Object.entries(given).flatMap(([key, part]) =>
    isPlural && PLURAL_FORMS.includes(key)
      ? comparePhrase(part, [...path, key])
      : compare(part, [...path, key]),
  )
}

function comparePhrase(given: unknown, path: readonly string[]): TextFault[] {
  if (given === undefined) return []
  if (typeof given !== 'string' || given.trim() === '') return [{ path, message: 'must be text' }]
  if (path.join() === 'dir' && given !== 'ltr' && given !== 'rtl') {
    return [{ path, message: 'must be "ltr" or "rtl"' }]
  }
  const faults = findUnknown(given, path)
  return faults.length > 0 ? faults : findMissingPlaceholders(given, path)
}

function findUnknown(phrase: string, path: readonly string[]): TextFault[] {
  const isUnknown = (known: ReadonlySet<string>) =>
    listPlaceholders(phrase).filter((name) => !known.has(name))
  // Only a phrase with other placeholders than the English one makes it necessary to read the other languages.
  if (isUnknown(new Set(findPlaceholders(path, ENGLISH))).length === 0) return []
  const known = listPlaceholdersOfAllLanguages(path)
  const unknown = isUnknown(known)
  if (unknown.length === 0) return []
  const allowed = known.size > 0 ? `use only ${[...known].join(' and ')}` : 'it has no placeholders'
  return [{ path, message: `must not contain ${unknown.join(' and ')}; ${allowed}` }]
}

/** The name of the app can be left out of every phrase, and the number out of a plural form such as "one". */
function findMissingPlaceholders(phrase: string, path: readonly string[]): TextFault[] {
  const isExact = ['zero', 'one', 'two'].includes(path.at(-1) ?? '')
  const missing = findPlaceholders(path, ENGLISH).filter(
    (name) => name !== '{app}' && !(name === '{count}' && isExact) && !phrase.includes(name),
  )
  return missing.length > 0 ? [{ path, message: `must contain ${missing.join(' and ')}` }] : []
}

/** Some languages name the app where others do not. */
function listPlaceholdersOfAllLanguages(path: readonly string[]): ReadonlySet<string> {
  return new Set([...catalogues.keys()].flatMap((key) => findPlaceholders(path, builtIn(key))))
}

/** The placeholders of a phrase. In a plural, they are in the form `other`, which every language has. */
function findPlaceholders(path: readonly string[], catalogue: AppCatalogue): readonly string[] {
  const phrase = getText(catalogue, path) ?? getText(catalogue, [...path.slice(0, -1), 'other'])
  return typeof phrase === 'string' ? listPlaceholders(phrase) : []
}

function listPlaceholders(phrase: string): string[] {
  return [...phrase.matchAll(/\{\w+\}/g)].map(([name]) => name)
}

function findMissingTexts(given: unknown, builtIn: object, path = ''): string[] {
  return Object.entries(builtIn).flatMap(([key, part]: [string, unknown]) => {
    // Languages have different plural forms, but all have `other`.
    if ('other' in builtIn && key !== 'other') return []
    const theirs: unknown = isObject(given) && Object.hasOwn(given, key) ? given[key] : undefined
    const name = path + key
    if (isObject(part)) return findMissingTexts(theirs, part, `${name}.`)
    return theirs === undefined ? [name] : []
  })
}

function getText(catalogue: object, path: readonly string[]): string | object | undefined {
  return path.reduce<string | object | undefined>((whole, key) => {
    if (typeof whole !== 'object' || !Object.hasOwn(whole, key)) return undefined
    const part: unknown = readObject(whole)[key]
    return typeof part === 'string' || isObject(part) ? part : undefined
  }, catalogue)
}

function mergeTexts(base: object, texts: unknown): object {
  const whole: Record<string, unknown> = { ...base }
  for (const [key, part] of Object.entries(isObject(texts) ? texts : {})) {
    if (typeof part === 'string') whole[key] = part
    else if (isObject(part)) whole[key] = mergeTexts(readObject(whole[key]), part)
  }
  return whole
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
