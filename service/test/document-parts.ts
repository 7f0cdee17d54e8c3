import type { ApiDocument } from '../src/api/http/openapi/document.js'

type Node = Readonly<Record<string, unknown>>

/** The members of a part of the document, with a `$ref` resolved; empty if the part is not an object. */
export function resolve(document: ApiDocument, part: unknown): Node {
  if (!isNode(part)) return {}
  if (typeof part.$ref !== 'string') return part
  const names = part.$ref.replace(/^#\//, '').split('/')
  return resolve(
    document,
    names.reduce<unknown>((node, name) => (isNode(node) ? node[name] : undefined), document),
  )
}

/** The members of an object, with their names. */
export function entriesOf(part: unknown): [string, unknown][] {
  return isNode(part) ? Object.entries(part) : []
}

/** The strings in a list. */
export function textsOf(part: unknown): string[] {
  return Array.isArray(part) ? part.map(String) : []
}

/** A valid value of a schema: its first example, as JSON if it is an object, or the first value of its enum. */
export function exampleOf(schema: unknown): string {
  const members = new Map(entriesOf(schema))
  const examples = members.get('examples')
  const [example]: unknown[] = Array.isArray(examples) ? examples : []
  if (isNode(example)) return JSON.stringify(example)
  return textsOf(examples)[0] ?? textsOf(members.get('enum'))[0] ?? ''
}

function isNode(part: unknown): part is Node {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}
