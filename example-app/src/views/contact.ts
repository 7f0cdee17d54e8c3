import { type Html, html } from './html.js'

/** A contact that may end its line after an @ or before a dot rather than in the middle of a word. */
export function contact(text: string): Html {
  const [first = '', ...others] = text.split(/(?<=@)|(?=\.)/)
  return html`${first}${others.map((part) => html`<wbr>${part}`)}`
}
