import * as z from 'zod'
import '../host.js'
import { callback, sitePath } from '../option-rules.js'
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
