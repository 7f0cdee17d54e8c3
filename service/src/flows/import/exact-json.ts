import { LosslessNumber, parse } from 'lossless-json'
import { tryTo } from '../../try-to.js'

/** Stands in a record for two different values under one name. */
export const AMBIGUOUS = Symbol('ambiguous')

/** The value of a JSON text, or `undefined`. A number that JavaScript writes otherwise than the text stays a `LosslessNumber` (R154). */
export function parseExactJson(text: string): unknown {
  return tryTo(() => parse(text, undefined, { parseNumber, onDuplicateKey: () => AMBIGUOUS }))
}

/** Whether a value is a number of `parseExactJson`; as a text it is what the file says. */
export function isNumeric(value: unknown): value is number | LosslessNumber {
  return typeof value === 'number' || value instanceof LosslessNumber
}

function parseNumber(digits: string): number | LosslessNumber {
  return String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)
}
