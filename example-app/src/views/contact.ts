import { type Html, html } from './html.js'

/** A contact with line break opportunities after `@` and before dots. */
export function contact(text: string): Html {
  const [first = '', ...others] = text.split(/(?<=@)|(?=\.)/)
  return html`${first}${others.map((part) => html`<wbr>${part}`)}`
}
