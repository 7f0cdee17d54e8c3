/** Markup that may be sent as it is. Made by `html` only, so everything in it was either written here or escaped. */
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

/** What a template can hold. Nothing (`undefined`, `false`) leaves no trace. */
export type Renderable = Html | string | number | undefined | false | readonly Renderable[]

/** Template tag: every value is escaped, for text and for quoted attributes alike, unless it is `Html` itself. */
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
