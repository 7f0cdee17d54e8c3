/** Whether a value is an object and no list, whose members may be anything. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, and an empty object otherwise. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

/** The value of a JSON text; `undefined` when it is not JSON. The error of `JSON.parse` would quote the text, and with it a secret. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
