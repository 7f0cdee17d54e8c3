import { type Html, html } from './html.js'
import type { Catalogue } from './locales/catalogue.js'
import { type Languages, type Text, textFor } from './text.js'
import type { PageFrame } from './view.js'

/** What every part of a page is drawn with. */
export interface PageContext {
  readonly frame: PageFrame
  readonly text: Text
  readonly words: Catalogue
}

/** One page before the layout is put around it. */
export interface Page {
  /** The heading, also the title of the document. */
  readonly title: Html
  /** What stands below the heading. */
  readonly main: Html
  /** The page as a whole tells of an error: nothing can be done here before the half-login ends. */
  readonly error?: boolean
  /** The page has its own way back to the app. */
  readonly leadsHome?: boolean
}

/** Everything a page is drawn with, in the language that fits best. */
export function pageContext(frame: PageFrame, languages: Languages): PageContext {
  const text = textFor(frame.locales, languages)
  return { frame, text, words: text.words }
}

/** A masked contact; set apart so that neither the script around it nor its own bends the other. */
export function destination(to: string): Html {
  return html`<bdi class="mfa-to" dir="ltr">${to}</bdi>`
}

/** The page that all others start from. */
export function startPath(frame: PageFrame): string {
  return frame.base === '' ? '/' : frame.base
}
