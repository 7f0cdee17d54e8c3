import { languageKey } from '../protocol/language.js'
import { type Html, html } from './html.js'
import { icons } from './icons.js'
import type { PageContext } from './page.js'

/** A menu with a button for each language, labeled in that language. The current one is marked. It needs no script. */
export function languageSwitch({ frame, text, words }: PageContext): Html | undefined {
  const { languages } = frame
  if (languages === undefined) return undefined
  const buttons = languages.offer.map((tag) => {
    const current = languageKey(tag) === languageKey(text.locale) && html` aria-current="true"`
    return html`<li><button class="mfa-link" name="language" value="${tag}" lang="${tag}"${current}>${nameOf(tag)}</button></li>`
  })
  return html`<details class="mfa-languages"><summary>${icons.language}<span><span class="mfa-unseen">${words.language}: </span>${nameOf(text.locale)}</span></summary>
<form method="post" action="${frame.base}/language" aria-label="${words.language}"><input type="hidden" name="back" value="${languages.back}"><ul>${buttons}</ul></form></details>`
}

/** The name of a language in that language, capitalized. */
function nameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  const [first = ''] = name
  return first.toLocaleUpperCase(tag) + name.slice(first.length)
}
