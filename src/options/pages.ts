import * as z from 'zod'
import './host.js'
import type { Request, Response } from 'express'
import { createOptionsSchema, type Given, setType, sitePath } from '../option-rules.js'
import { type MfaTexts, readTexts } from '../pages/texts.js'
import type { PageFrame, RenderView, View } from '../pages/view.js'
import { callback, isOptionalText, isText } from './callback.js'

/** The rules of the option `pages`. */
export class PageRules<User = Express.User> {
  /**
   * Your style sheet, a path on this site that is linked after ours. Defaults to none. See docs/options.md#your-own-pages.
   */
  readonly stylesheet = sitePath('/mfa.css').optional()
  /**
   * Your logo, a path on this site to an image, shown 32 pixels high in place of the initial of `appName`. Defaults to
   * none.
   */
  readonly logo = sitePath('/logo.svg').optional()
  /**
   * Returns the name by which the user knows the account, such as the email address of the sign-in. It stands beside `appName` on every
   * page of that user, who may have several accounts. Defaults to none.
   */
  readonly accountName = callback<(user: User) => string | undefined>({
    name: 'pages.accountName',
    must: 'must be a function from a user to a name',
    returns: ['a name or undefined', isOptionalText],
  }).optional()
  /**
   * Your page on which a user adds a phone number or email address, linked on the factor page. A factor's own `manageUrl`
   * leads to your page for that factor. Defaults to none.
   */
  readonly addFactorPath = sitePath('/account/phone').optional()
  /** Advice for a user who has no usable factor, in your words, at most 500 characters. Defaults to none. */
  readonly help = z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(500, { error: 'must be at most 500 characters' })
    .optional()
  /** Returns the id of the factor that is offered first. Defaults to the factor that was last used in this browser. */
  readonly preferred = callback<(user: User) => string | undefined>({
    name: 'pages.preferred',
    must: 'must be a function from a user to a factor’s id',
    returns: ['the id of a factor or undefined', isOptionalText],
  }).optional()
  /**
   * Replaces pages: receives the view as data and the standard renderer, and returns a whole HTML document. Defaults to
   * the standard renderer. See docs/options.md#your-own-pages.
   */
  readonly render = callback<(view: View, frame: PageFrame, standard: RenderView) => string>({
    name: 'pages.render',
    must: 'must be a function that returns HTML',
    returns: ['an HTML document as text', isText],
  }).optional()
}

/** How the pages look. */
export interface PageOptions<User = Express.User> extends Given<PageRules<User>> {}

/** The option `pages`. */
export const pages = createOptionsSchema(new PageRules(), 'must be an object like { stylesheet: "/mfa.css" }')

const texts = z.unknown().transform((given, context) => {
  const read = readTexts(given)
  if ('languages' in read) return read.languages
  for (const { path, message } of read.faults) {
    context.addIssue({ code: 'custom', path: [...path], message })
  }
  return z.NEVER
})

/** The rules of the option `languages`. */
export class LanguageRules<User = Express.User> {
  /**
   * The languages that the user can choose from on every page, as BCP 47 tags in the order of the menu, at least two.
   * Pages and messages use no others. By default, there is no choice.
   */
  readonly offer = z
    .array(z.string({ error: 'must be a language like nl' }), { error: 'must be a list like ["en", "de"]' })
    .min(2, { error: 'must contain at least two languages to choose from' })
    .readonly()
    .optional()
  /**
   * Saves the language that the user chose, so that `locale` returns it at the next request. By default, the choice is
   * saved in a cookie (`mfa_language`), which counts before `locale` and `Accept-Language`.
   */
  readonly remember = callback<(req: Request, res: Response, language: string) => unknown>({
    name: 'languages.remember',
    awaits: true,
  }).optional()
  /** Returns the language for a request as a BCP 47 tag. Defaults to `Accept-Language`. */
  readonly locale = callback<(req: Request) => string | undefined>({
    name: 'languages.locale',
    must: 'must be a function from a request to a language',
    returns: ['a language tag or undefined', isOptionalText],
  }).optional()
  /**
   * Returns the language of a user as a BCP 47 tag. What the user approves is shown and sent in it, whatever the request asks for.
   * Defaults to the first language of `offer`, or else English.
   */
  readonly ofUser = callback<(user: User) => string | undefined>({
    name: 'languages.ofUser',
    must: 'must be a function from a user to a language',
    returns: ['a language tag or undefined', isOptionalText],
  }).optional()
  /**
   * Your own texts by language: `{ en: { choose: { title: 'Is it you?' } } }`. Defaults to our texts. See
   * docs/options.md#texts.
   */
  readonly texts = setType<MfaTexts>()(texts).prefault({})
}

/** The languages of pages, messages and notices. */
export interface LanguageOptions<User = Express.User> extends Given<LanguageRules<User>> {}

/** The option `languages`. */
export const languages = createOptionsSchema(
  new LanguageRules(),
  'must be an object like { offer: ["en", "de"] }',
)
