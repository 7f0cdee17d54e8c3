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
  let markup = strings[0] ?? ''
  for (let index = 0; index < values.length; index++) {
    markup += renderMarkup(values[index]) + strings[index + 1]
  }
  return new Html(markup)
}

function renderMarkup(value: Renderable): string {
  if (value === undefined || value === false) return ''
  if (typeof value !== 'object') return escapeHtml(String(value))
  return value instanceof Html ? value.markup : value.map(renderMarkup).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const SPECIAL = /[&<>"'`]/

function escapeHtml(text: string): string {
  // Most texts need no escaping, and `replace` costs more than `test`.
  return SPECIAL.test(text) ? text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '') : text
}

/** Markup without its tags, for places that show only text. Values are escaped, so every `<` begins a tag. */
export function removeTags({ markup }: Html): Html {
  return new Html(markup.replaceAll(/<[^>]*>/g, ''))
}

/** A URL that is safe in a link: a path of this site, or http(s). Anything else becomes `/`. */
export function safeLink(url: string): string {
  // Browsers treat a backslash as a slash and ignore tabs and line breaks in a URL.
  return /^(?:\/(?![/\\])|https?:\/\/)[^\s\\]*$/i.test(url) ? url : '/'
}

/** The URL if it is a data URL of an image, otherwise `undefined`. */
export function imageDataUrl(url: string | undefined): string | undefined {
  return url !== undefined && /^data:image\/[a-z+.-]+[;,]/i.test(url) ? url : undefined
}

/** The URI if it opens an authenticator app (`otpauth://`), otherwise `undefined`. */
export function otpauthLink(uri: string | undefined): string | undefined {
  return uri !== undefined && /^otpauth:\/\//i.test(uri) ? uri : undefined
}
