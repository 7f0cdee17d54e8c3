import type { ApiDocument } from './document.js'

type Node = Readonly<Record<string, unknown>>

/** The members of a part of the document, after its `$ref` if it is one; empty for what is no object. */
export function resolve(document: ApiDocument, part: unknown): Node {
  if (!isNode(part)) return {}
  if (typeof part.$ref !== 'string') return part
  const names = part.$ref.replace(/^#\//, '').split('/')
  return resolve(
    document,
    names.reduce<unknown>((node, name) => (isNode(node) ? node[name] : undefined), document),
  )
}

/** The members of an object, by name. */
export function entriesOf(part: unknown): [string, unknown][] {
  return isNode(part) ? Object.entries(part) : []
}

/** The texts in a list. */
export function textsOf(part: unknown): string[] {
  return Array.isArray(part) ? part.map(String) : []
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}
