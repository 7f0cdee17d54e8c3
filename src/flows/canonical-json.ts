import { pickGiven } from '../shape.js'

/** A value in the form of RFC 8785, texts as they are, without members that are `undefined`. @throws {TypeError} for what JSON cannot express exactly. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string' && isWellFormed(value)) return JSON.stringify(value)
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isPlainObject(value)) {
    const members = Object.entries(pickGiven(value)).sort(([one], [other]) => (one < other ? -1 : 1))
    return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`
  }
  throw new TypeError(`JSON cannot express this exactly: ${typeof value}`)
}

/** Whether a text is Unicode: UTF-8 would write every half of a surrogate pair as the same character. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
