import type { Request, Response } from 'express'
import * as z from 'zod'
import { callback } from '../option-rules.js'
import { type MfaTexts, readTexts } from '../texts.js'

/** The languages of pages, messages and notices. */
export interface LanguageOptions {
  /**
   * The languages that the user can choose from on every page, as BCP 47 tags in the order of the menu, at least two:
   * languages of the pages, or languages in `texts`. Pages and messages use no others. By default, there is no choice.
   */
  offer?: readonly string[] | undefined
  /**
   * Saves the language that the user chose, so that `locale` returns it at the next request. By default, the choice is
   * saved in a cookie (`mfa_language`), which counts before `locale` and `Accept-Language`.
   */
  remember?: ((req: Request, res: Response, language: string) => unknown) | undefined
  /** Returns the language for a request as a BCP 47 tag. Defaults to `Accept-Language`. */
  locale?: ((req: Request) => string | undefined) | undefined
  /**
   * Your own texts by language: `{ en: { choose: { title: 'Is it you?' } } }`. Single texts for a language of the pages,
   * or every text of another language. Defaults to our texts. See docs/options.md#texts.
   */
  texts?: MfaTexts | undefined
}

const texts = z.unknown().transform((given, context) => {
  const read = readTexts(given)
  if ('languages' in read) return read.languages
  for (const { path, message } of read.faults) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
  return z.NEVER
})

/** The rules of the option `languages`. */
export const languages = z.strictObject(
  {
    offer: z
      .array(z.string({ error: 'must be a language like nl' }), { error: 'must be a list like ["en", "de"]' })
      .min(2, { error: 'must contain at least two languages to choose from' })
      .optional(),
    remember: callback<NonNullable<LanguageOptions['remember']>>('must be a function').optional(),
    locale: callback<NonNullable<LanguageOptions['locale']>>(
      'must be a function from a request to a language',
    ).optional(),
    texts: texts.prefault({}),
  },
  { error: 'must be an object like { offer: ["en", "de"] }' },
)
