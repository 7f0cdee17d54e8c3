import { type HtmlPart, html } from './html.js'

/** A text with its web addresses as links, as email programs show it. */
export function linked(text: string): readonly HtmlPart[] {
  return text
    .split(/(https?:\/\/\S+)/)
    .map((part, index) => (index % 2 === 0 ? part : html`<a href="${part}">${part}</a>`))
}
