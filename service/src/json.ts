/** The value of a JSON text; `undefined` when it is not JSON. The error of `JSON.parse` would quote the text, and with it a secret. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
