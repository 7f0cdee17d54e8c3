/** The members of a JSON object in a response; none when it is anything else. */
export function jsonFields(body: string): Readonly<Record<string, unknown>> {
  return fieldsOf(parse(body))
}

/** The members of a value that should be an object; none when it is not. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** The first item of a value that should be a list of objects. */
export function firstItem(value: unknown): Readonly<Record<string, unknown>> {
  return Array.isArray(value) ? fieldsOf(value[0]) : {}
}

/** A carrier's id for a message, if it can be one. */
export function messageIdIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) ? value : undefined
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
