import { randomBytes } from 'node:crypto'
import { KEY_VERBS, type Scope, VERBS } from 'countersign/protocol'
import type { Mode } from '../../store/partition.js'
import { sha256 } from '../../store/secrets/hash.js'

/** The scopes that the verbs need together, which are those that a key of an app needs for signing users in. */
export const SIGN_IN_SCOPES: readonly Scope[] = [
  ...new Set([...Object.values(VERBS), ...Object.values(KEY_VERBS)].map(({ scope }) => scope)),
]

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_BYTES = 32
const KEY_CHARACTERS = 43 // hold 256 bits in base 62
const CHECK_CHARACTERS = 6
const SHAPE = /^mfa_(live|test)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** A new API key of 256 random bits (R85). Secret scanners recognize the prefix; the checksum detects typing errors. */
export function newApiKey(mode: Mode): string {
  const start = `mfa_${mode}_${base62(randomBytes(KEY_BYTES), KEY_CHARACTERS)}`
  return start + checksum(start)
}

/** Whether a text has the form of an API key, which avoids most lookups of invalid keys. */
export function isApiKey(text: string): boolean {
  const shape = SHAPE.exec(text)
  return shape !== null && checksum(text.slice(0, -CHECK_CHARACTERS)) === shape[3]
}

/** How an operator recognizes a key: its mode and the end of its checksum, which reveals nothing about the key. */
export function hintOf(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

function checksum(text: string): string {
  return base62(sha256(text), KEY_CHARACTERS).slice(-CHECK_CHARACTERS)
}

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (text.length < length) {
    text = (BASE62[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}
