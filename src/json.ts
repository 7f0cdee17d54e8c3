/** Whether a value is an object, whose members may be anything. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** The value if it is an object, and an empty object otherwise. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

/** The value of a JSON text; `undefined` if the text is no JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
