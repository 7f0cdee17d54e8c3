import { LosslessNumber, parse } from 'lossless-json'

/** Stands in a record for two different values under one name. */
export const AMBIGUOUS = Symbol('ambiguous')

/** The value of a JSON text, or `undefined`. A number that JavaScript writes otherwise than the text stays a `LosslessNumber` (R154). */
export function exactJsonIn(text: string): unknown {
  try {
    return parse(text, undefined, { parseNumber, onDuplicateKey: () => AMBIGUOUS })
  } catch {
    // The error would quote the text, and with it a secret.
    return undefined
  }
}

/** Whether a value is a number of `exactJsonIn`; as a text it is what the file says. */
export function isNumeric(value: unknown): value is number | LosslessNumber {
  return typeof value === 'number' || value instanceof LosslessNumber
}

function parseNumber(digits: string): number | LosslessNumber {
  return String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)
}
