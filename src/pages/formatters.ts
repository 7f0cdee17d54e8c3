/**
 * Keeps one formatter for each locale. Making an `Intl` object costs more than rendering a page; locales are those of the
 * catalogues, so only a few are ever kept.
 */
export function formatterOf<Formatter>(make: (locale: string) => Formatter): (locale: string) => Formatter {
  const made = new Map<string, Formatter>()
  return (locale) => {
    const known = made.get(locale)
    if (known) return known
    const formatter = make(locale)
    made.set(locale, formatter)
    return formatter
  }
}
