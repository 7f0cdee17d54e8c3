const TRADITIONAL: ReadonlySet<string> = new Set(['hant', 'tw', 'hk', 'mo'])

/** The keys of a language that has none of its own, by the subtags that follow the language in a tag; best first. */
const VARIANTS: ReadonlyMap<string, (subtags: readonly string[]) => readonly string[]> = new Map([
  // In CLDR, Portuguese without a region is Brazilian, and every other region follows Portugal.
  ['pt', (subtags) => (isOutsideBrazil(subtags) ? ['pt-pt', 'pt-br'] : ['pt-br', 'pt-pt'])],
  // Readers of traditional characters get their next language, not simplified characters.
  ['zh', (subtags) => [isTraditional(subtags) ? 'zh-hant' : 'zh-hans']],
])

function isOutsideBrazil(subtags: readonly string[]): boolean {
  const region = subtags.find((subtag) => /^([a-z]{2}|\d{3})$/.test(subtag))
  return region !== undefined && region !== 'br'
}

function isTraditional(subtags: readonly string[]): boolean {
  return !subtags.includes('hans') && subtags.some((subtag) => TRADITIONAL.has(subtag))
}

// A client controls the length of `Accept-Language`. RFC 5646 §4.4.1: tags in use are at most this long.
const MAX_TAG_LENGTH = 35
const MAX_TAGS = 32

/** The form of a BCP 47 tag by which texts are looked up: in lower case, `pt-br` for `pt`, and `zh-hans` for `zh`. */
export function languageKey(tag: string): string {
  const key = tag.toLowerCase().replaceAll('_', '-')
  return VARIANTS.get(key)?.([])[0] ?? key
}

/**
 * The key of the best matching language, `undefined` if none matches. Each preferred tag is shortened from the right
 * (`de-CH` matches `de`). Other regions of Portuguese than Brazil prefer European Portuguese. `zh-CN` matches `zh-hans`, while
 * `zh-TW`, `zh-HK` and `zh-MO` match only `zh-hant`.
 */
export function matchLanguage(
  preferred: readonly string[],
  available: { has(key: string): boolean },
): string | undefined {
  for (const tag of preferred.slice(0, MAX_TAGS)) {
    const found = listKeys(tag.slice(0, MAX_TAG_LENGTH)).find((key) => available.has(key))
    if (found !== undefined) return found
  }
  return undefined
}

/** Picks the language that a user prefers from those that exist; English if none does. */
export function pickLocale(preferred: readonly string[], languages: { has(key: string): boolean }): string {
  return matchLanguage(preferred, languages) ?? 'en'
}

function listKeys(tag: string): readonly string[] {
  const [language = '', ...rest] = tag.toLowerCase().split(/[-_]/)
  const longer = rest.map((_, index) => [language, ...rest.slice(0, rest.length - index)].join('-'))
  return [...longer, ...(VARIANTS.get(language)?.(rest) ?? [language])]
}

/** Keeps what `make` made for each key, for good. Only for few keys, such as the locales of the catalogues. */
export function memoize<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

/** The tag of a language as it is usually written, such as `pt-BR`, by its key. */
export const languageTag = memoize((key: string) => Intl.getCanonicalLocales(key)[0] ?? key)
