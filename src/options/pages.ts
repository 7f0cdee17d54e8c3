import * as z from 'zod'
import '../host.js'
import type { Request, Response } from 'express'
import { callback, sitePath } from '../option-rules.js'
import { type MfaTexts, readTexts } from '../pages/texts.js'
import type { PageFrame, RenderView, View } from '../pages/view.js'

/** How the pages look. */
export interface PageOptions<User = Express.User> {
  /** Your style sheet, a path on this site that is linked after ours and sets its custom properties. Defaults to none. See docs/options.md#your-own-pages. */
  stylesheet?: string | undefined
  /**
   * Your logo, a path on this site to an image, 32 pixels high on every page. It takes the place of the initial of `appName`, whose
   * text stays beside it. Defaults to none.
   */
  logo?: string | undefined
  /**
   * Your page on which a user adds a phone number or email address, a path on your site. The factor page links to it. Defaults to
   * none. A factor's own `manageUrl` leads to your page for that factor.
   */
  addFactorPath?: string | undefined
  /** What a user should do who has no usable factor, in your words, at most 500 characters. Defaults to none. */
  help?: string | undefined
  /** Returns the id of the factor that is offered first. Defaults to the factor that was last used in this browser. */
  preferred?: ((user: User) => string | undefined) | undefined
  /**
   * Replaces pages: it receives the view as data and the standard renderer, and returns a whole HTML document. Defaults
   * to the standard renderer. See docs/options.md#your-own-pages.
   */
  render?: ((view: View, frame: PageFrame, standard: RenderView) => string) | undefined
}

/** The rules of the option `pages`. */
export const pages = z.strictObject(
  {
    stylesheet: sitePath('/mfa.css').optional(),
    logo: sitePath('/logo.svg').optional(),
    addFactorPath: sitePath('/account/phone').optional(),
    help: z
      .string({ error: 'must be text' })
      .min(1, { error: 'must not be empty' })
      .max(500, { error: 'must be at most 500 characters' })
      .optional(),
    preferred: callback<NonNullable<PageOptions['preferred']>>(
      'must be a function from a user to a factor’s id',
    ).optional(),
    render: callback<NonNullable<PageOptions['render']>>('must be a function that returns HTML').optional(),
  },
  { error: 'must be an object like { stylesheet: "/mfa.css" }' },
)

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
