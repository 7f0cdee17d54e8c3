import { createHash, randomBytes } from 'node:crypto'
import type { Mode } from '../application.js'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_BYTES = 32
const KEY_CHARACTERS = 43 // of 62 kinds hold 256 bits
const CHECK_CHARACTERS = 6
const SHAPE = /^mfa_(live|test)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** A new API key of 256 random bits (R85). The prefix and checksum let scanners and typing mistakes be told. */
export function newApiKey(mode: Mode): string {
  const start = `mfa_${mode}_${base62(randomBytes(KEY_BYTES), KEY_CHARACTERS)}`
  return start + checksum(start)
}

/** Whether a text can be one of our keys at all: most of what is not costs no look into the store. */
export function isApiKey(text: string): boolean {
  const shape = SHAPE.exec(text)
  return shape !== null && checksum(text.slice(0, -CHECK_CHARACTERS)) === shape[3]
}

/** What is stored of a key. Nobody can search 256 bits, so a plain hash does (R85). */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

/** By what an operator recognises a key: its kind and the end of its checksum, which tells nothing of the rest. */
export function hintOf(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

function checksum(text: string): string {
  return base62(createHash('sha256').update(text).digest(), KEY_CHARACTERS).slice(-CHECK_CHARACTERS)
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
