/** Safe markup. Only `html` creates it, so everything in it is either a literal of a template or escaped. */
export class Html {
  readonly markup: string

  /** @internal Use the `html` tag. */
  constructor(markup: string) {
    this.markup = markup
  }

  toString(): string {
    return this.markup
  }
}

/** A value in a template. `undefined` and `false` render nothing. */
export type Renderable = Html | string | number | undefined | false | readonly Renderable[]

/** Template tag that escapes every value, for text and for quoted attributes, unless it is `Html`. */
export function html(strings: TemplateStringsArray, ...values: readonly Renderable[]): Html {
  return new Html(strings.reduce((markup, string, index) => markup + markupOf(values[index - 1]) + string))
}

function markupOf(value: Renderable): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(markupOf).join('')
  return escapeHtml(String(value))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '')
}
