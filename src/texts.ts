import type { NoticeCatalogue } from './notices/catalogue.js'
import { noticeCatalogues } from './notices/compose.js'
import type { Catalogue } from './pages/locales/catalogue.js'
import { catalogues, type Locale } from './pages/text.js'

/** Every text of one language. A language of the host's own may do without notices: they take the next one asked for. */
export interface AppCatalogue extends Catalogue {
  readonly notices?: NoticeCatalogue
}

/** The languages of an app: ours, and those that the host adds. Tags are in lower case. */
export type AppLanguages = Readonly<Record<string, AppCatalogue>> & { readonly en: Required<AppCatalogue> }

/** The parts of something, and of its parts, of which each may be left out. */
type PartsOf<Whole> = { readonly [Part in keyof Whole]?: PartsOf<Whole[Part]> | undefined }

/**
 * Texts of the host's own, by language (BCP 47): single ones for a language that is spoken here, or for a region of one
 * (`de-CH`); every one for another language, which is best written as a `PageCatalogue`, with `notices` as a
 * `NoticeCatalogue`.
 */
export type MfaTexts = Readonly<Record<string, PartsOf<AppCatalogue> | undefined>>

const STANDARD = Object.fromEntries(
  (Object.keys(catalogues) as Locale[]).map((tag) => [
    tag,
    { ...catalogues[tag], notices: noticeCatalogues[tag] },
  ]),
) as Readonly<Record<Locale, Required<AppCatalogue>>>

/** Something that is wrong with a host's texts, and where. */
export interface TextFault {
  readonly path: readonly string[]
  readonly message: string
}

const PLURAL_FORMS = ['zero', 'one', 'two', 'few', 'many', 'other']
const MAX_NAMED = 5

/** Our languages with the host's texts in them, or everything that is wrong with those. */
export function readTexts(
  given: unknown,
): { readonly languages: AppLanguages } | { readonly faults: readonly TextFault[] } {
  if (!isObject(given)) return { faults: [{ path: [], message: 'must be an object like { en: { … } }' }] }
  const faults: TextFault[] = []
  const languages: Record<string, AppCatalogue> & { en: Required<AppCatalogue> } = { ...STANDARD }
  // A language before its regions, which start from it.
  const entries = Object.entries(given).sort(([one], [other]) => one.length - other.length)
  for (const [tag, texts] of entries) {
    if (texts === undefined) continue
    const base = baseOf(tag, languages)
    const found = isTag(tag)
      ? faultsIn(texts, base === undefined)
      : [{ path: [], message: 'is not a language like nl' }]
    faults.push(...found.map(({ path, message }) => ({ path: [tag, ...path], message })))
    // Every part has been compared with the English catalogue, so it is one.
    if (found.length === 0) languages[tag.toLowerCase()] = merged(base ?? {}, texts) as AppCatalogue
  }
  return faults.length > 0 ? { faults } : { languages }
}

/** What is spoken of a language so far, on which a host's texts are laid. */
function baseOf(tag: string, languages: Readonly<Record<string, AppCatalogue>>): AppCatalogue | undefined {
  const subtags = tag.toLowerCase().split('-')
  for (; subtags.length > 0; subtags.pop()) {
    const known = subtags.join('-')
    if (Object.hasOwn(languages, known)) return languages[known]
  }
  return undefined
}

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

function faultsIn(texts: unknown, isNew: boolean): TextFault[] {
  const wrong = compared(texts, [])
  if (wrong.length > 0 || !isNew) return wrong
  const { notices, ...pages } = STANDARD.en
  const hasNotices = isObject(texts) && texts.notices !== undefined
  const missing = missingIn(texts, hasNotices ? { ...pages, notices } : pages)
  if (missing.length === 0) return []
  const more = missing.length - MAX_NAMED
  const named = missing.slice(0, MAX_NAMED).join(', ')
  const message = `needs every text, as we do not speak it; it lacks ${named}${more > 0 ? ` and ${more} more` : ''}`
  return [{ path: [], message }]
}

/** What cannot stand where it stands. */
function compared(given: unknown, path: readonly string[]): TextFault[] {
  if (given === undefined) return []
  const standard = at(STANDARD.en, path)
  if (standard === undefined) return [{ path, message: 'is not a text of ours; is it misspelt?' }]
  if (typeof standard === 'string') return comparedPhrase(given, path, placeholdersAt(path))
  if (!isObject(given)) return [{ path, message: 'must be an object with texts' }]
  const isPlural = 'other' in standard
  return Object.entries(given).flatMap(([key, part]) =>
    isPlural && PLURAL_FORMS.includes(key)
      ? comparedPhrase(part, [...path, key], placeholdersAt([...path, 'other']))
      : compared(part, [...path, key]),
  )
}

function comparedPhrase(given: unknown, path: readonly string[], known: ReadonlySet<string>): TextFault[] {
  if (given === undefined) return []
  if (typeof given !== 'string' || given.trim() === '') return [{ path, message: 'must be text' }]
  if (path.join() === 'dir' && given !== 'ltr' && given !== 'rtl') {
    return [{ path, message: 'must be "ltr" or "rtl"' }]
  }
  const strange = placeholdersIn(given).filter((name) => !known.has(name))
  if (strange.length === 0) return []
  const instead = known.size > 0 ? `only ${[...known].join(' and ')} can` : 'nothing can'
  return [{ path, message: `has ${strange.join(' and ')}; ${instead} be filled in there` }]
}

/** What is filled in here in any language: one may name the app where another need not. */
function placeholdersAt(path: readonly string[]): ReadonlySet<string> {
  return new Set(
    Object.values(STANDARD).flatMap((catalogue) => {
      const phrase = at(catalogue, path)
      return typeof phrase === 'string' ? placeholdersIn(phrase) : []
    }),
  )
}

function placeholdersIn(phrase: string): string[] {
  return [...phrase.matchAll(/\{\w+\}/g)].map(([name]) => name)
}

function missingIn(given: unknown, standard: object, path = ''): string[] {
  return Object.entries(standard).flatMap(([key, part]: [string, unknown]) => {
    // A language has the plural forms that it has; all of them have this one.
    if ('other' in standard && key !== 'other') return []
    const theirs: unknown = isObject(given) && Object.hasOwn(given, key) ? given[key] : undefined
    const name = path + key
    if (isObject(part)) return missingIn(theirs, part, `${name}.`)
    return theirs === undefined ? [name] : []
  })
}

function at(catalogue: object, path: readonly string[]): string | object | undefined {
  return path.reduce<string | object | undefined>((whole, key) => {
    if (typeof whole !== 'object' || !Object.hasOwn(whole, key)) return undefined
    const part: unknown = Reflect.get(whole, key)
    return typeof part === 'string' || isObject(part) ? part : undefined
  }, catalogue)
}

function merged(base: object, texts: unknown): object {
  const whole: Record<string, unknown> = { ...base }
  for (const [key, part] of Object.entries(isObject(texts) ? texts : {})) {
    if (typeof part === 'string') whole[key] = part
    else if (isObject(part)) whole[key] = merged(Object(whole[key]), part)
  }
  return whole
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
