import type { Form } from './page.js'

/** Reads a parsed body. Values that are not text count as missing (R81). */
export function formOf(body: unknown): Form {
  const fields = new Map(Object.entries(Object(body)))
  const exact = (name: string) => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    exact,
    text: (name) => exact(name).trim(),
    all(name) {
      const value = fields.get(name)
      const values = Array.isArray(value) ? value : [value]
      return values.filter((item): item is string => typeof item === 'string')
    },
  }
}
