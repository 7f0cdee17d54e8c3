import type { en } from './en.js'

/** A text with `{placeholders}`. For each key, all catalogues use the same placeholders. */
export type Phrase = string

/** A text that depends on a number, with the plural categories of the language (`Intl.PluralRules`). */
export type PluralPhrase = Readonly<Partial<Record<Intl.LDMLPluralRule, Phrase>> & { other: Phrase }>

/** Texts by the names of the English ones. */
export type TextsLike<English> = English extends string
  ? Phrase
  : English extends { readonly other: Phrase }
    ? PluralPhrase
    : { readonly [Name in keyof English]: TextsLike<English[Name]> }

/**
 * The texts of the pages in one language, by the names of the English ones. `{to}` is a masked contact, `{app}` the name of the app,
 * `{in}` a future time ("in 5 minutes"), `{time}` a duration ("24 hours"), `{when}` a day.
 */
export interface Catalogue extends TextsLike<Omit<typeof en, 'dir'>> {
  /** The direction of writing: from left to right, or from right to left. */
  readonly dir: 'ltr' | 'rtl'
}
