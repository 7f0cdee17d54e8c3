import express, { type RequestHandler } from 'express'
import { readJson } from '../../json.js'
import { tryTo } from '../../try-to.js'
import { problem } from './problem.js'

const LIMIT_BYTES = 4_096
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i

const checkType: RequestHandler = function refuseOtherTypes(request, response, next) {
  const known = request.is([JSON_TYPE, FORM_TYPE])
  const [, charset = 'utf-8'] = CHARSET.exec(request.headers['content-type'] ?? '') ?? []
  // A request without a body passes, so that the response names each missing parameter.
  const isRefused = known === false && request.headers['content-length'] !== '0'
  if (isRefused || charset.toLowerCase() !== 'utf-8') problem(response, 'unsupported_media_type')
  else next()
}

const parse: RequestHandler = function parseBody(request, _response, next) {
  const { body, headers } = request
  if (Buffer.isBuffer(body)) {
    const isForm = headers['content-type']?.trimStart().toLowerCase().startsWith(FORM_TYPE)
    request.body = body.length === 0 ? undefined : (isForm ? parseForm : parseJson)(body)
  }
  next()
}

/** Reads a body of at most 4 KB, or another number of bytes, as JSON or a form, in UTF-8 (R82). Compressed bodies are refused. */
export function bodyReader(limit = LIMIT_BYTES): readonly RequestHandler[] {
  return [checkType, express.raw({ limit, inflate: false, type: () => true }), parse]
}

/** A body that cannot be parsed, or that parsers would understand differently. */
export class InvalidBodyError extends Error {
  /** The parameters that are wrong; `body` stands for the whole body. */
  readonly fields: readonly string[]
  readonly detail: string

  constructor(fields: readonly string[], detail: string) {
    super('The body is invalid or ambiguous.')
    this.name = 'InvalidBodyError'
    this.fields = fields
    this.detail = detail
  }
}

/** The detail for a body that does not match its content type. */
export const UNPARSABLE = 'could not be parsed as its content type says'

const ONCE = 'must be given only once'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses JSON. Throws an `InvalidBodyError`, also when a name occurs twice in the outermost object. */
function parseJson(body: Buffer): unknown {
  const text = decode(body)
  refuseDuplicateNames(text)
  return parseOrRefuse(() => JSON.parse(text))
}

/** Parses a form. Throws an `InvalidBodyError`, also when a parameter occurs twice. */
function parseForm(body: Buffer): Readonly<Record<string, string>> {
  const text = decode(body)
  refuseInvalidEncoding(text)
  const pairs = [...new URLSearchParams(text)]
  const names = pairs.map(([name]) => name)
  const duplicates = names.filter((name, i) => names.indexOf(name) !== i)
  if (duplicates.length > 0) throw new InvalidBodyError([...new Set(duplicates)], ONCE)
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, name === 'User' ? restorePlus(value) : value]),
  )
}

/** A form turns a plus sign into a blank, which can stand for nothing else where the phone number of a contact begins. */
function restorePlus(user: string): string {
  return user.replace(/(?<=^|:) (?=\d{7,15}$)/, '+')
}

function decode(body: Buffer): string {
  return parseOrRefuse(() => utf8.decode(body))
}

function parseOrRefuse<T>(parse: () => T): T {
  try {
    return parse()
  } catch {
    // The original error is not the cause, because its message quotes the body.
    throw new InvalidBodyError(['body'], UNPARSABLE)
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]|:/g

/** `JSON.parse` silently uses the last of two values. */
function refuseDuplicateNames(text: string): void {
  const seen = new Set<string>()
  const duplicates = new Set<string>()
  let depth = 0
  let last = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    if (token === ':' && depth === 1) {
      // Without escapes: one name can be written in several ways.
      const name = String(readJson(last) ?? last)
      if (seen.has(name)) duplicates.add(name)
      seen.add(name)
    }
    last = token
  }
  if (duplicates.size > 0) throw new InvalidBodyError([...duplicates], ONCE)
}

/** Parsers disagree about percent signs that do not encode UTF-8. */
function refuseInvalidEncoding(text: string): void {
  const isInvalid = (pair: string) => tryTo(() => decodeURIComponent(pair)) === undefined
  const invalid = text.split('&').filter((pair) => pair.includes('%') && isInvalid(pair))
  if (invalid.length === 0) return
  const fields = invalid.map((pair) => pair.split('=')[0] ?? '')
  throw new InvalidBodyError([...new Set(fields)], 'must be percent-encoded UTF-8')
}
