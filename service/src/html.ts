/** HTML that can be part of a page. Only `html` creates it, so that nothing is left unescaped. */
export interface Html {
  readonly markup: string
}

type Part = string | number | Html | readonly Html[] | undefined | false

/** A template that escapes its values, except for those created by `html`. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: texts.map((text, i) => (i === 0 ? text : renderMarkup(parts[i - 1]) + text)).join('') }
}

function renderMarkup(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(renderMarkup).join('')
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
