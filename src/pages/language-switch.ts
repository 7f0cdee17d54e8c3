import { type Html, html } from './html.js'
import type { PageContext } from './page.js'

/** One button a language, each in its own words; the one of the page is marked. */
export function languageSwitch({ frame, text, words }: PageContext): Html | undefined {
  const { languages } = frame
  if (languages === undefined) return undefined
  const buttons = languages.offer.map((tag) => {
    const current = tag.toLowerCase() === text.locale && html` aria-current="true"`
    return html`<li><button class="mfa-link" name="language" value="${tag}" lang="${tag}"${current}>${nameOf(tag)}</button></li>`
  })
  return html`<form class="mfa-languages" method="post" action="${frame.base}/language" aria-label="${words.language}"><input type="hidden" name="back" value="${languages.back}"><ul>${buttons}</ul></form>`
}

/** What its speakers call it, as a name begins in their writing. */
function nameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  const [first = ''] = name
  return first.toLocaleUpperCase(tag) + name.slice(first.length)
}
