/** A body that cannot be read, or could be read in two ways. */
export class UnreadableBodyError extends Error {
  /** What it is about; `body` for all of it. */
  readonly fields: readonly string[]
  /** What is wrong with each of them. */
  readonly detail: string

  constructor(fields: readonly string[], detail: string) {
    super('The body could not be read in one way only.')
    this.name = 'UnreadableBodyError'
    this.fields = fields
    this.detail = detail
  }
}

/** What is said of a body that is not what it says it is. */
export const UNREADABLE = 'could not be read as what its content type says'

const ONCE = 'must be given once'
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value of a JSON text in which no name of the outermost object comes twice. Throws an `UnreadableBodyError`. */
export function parseJson(body: Buffer): unknown {
  const text = decode(body)
  refuseNamesTwice(text)
  return orUnreadable(() => JSON.parse(text))
}

/** The parameters of a form, each of which is given once. Throws an `UnreadableBodyError`. */
export function parseForm(body: Buffer): Readonly<Record<string, string>> {
  const text = decode(body)
  refuseBrokenPercents(text)
  const pairs = [...new URLSearchParams(text)]
  const names = pairs.map(([name]) => name)
  const twice = names.filter((name, i) => names.indexOf(name) !== i)
  if (twice.length > 0) throw new UnreadableBodyError([...new Set(twice)], ONCE)
  return Object.fromEntries(pairs)
}

function decode(body: Buffer): string {
  return orUnreadable(() => utf8.decode(body))
}

function orUnreadable<T>(read: () => T): T {
  try {
    return read()
  } catch {
    // Not as a cause: its message quotes the body.
    throw new UnreadableBodyError(['body'], UNREADABLE)
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]|:/g

/** `JSON.parse` takes the last of two without a word. */
function refuseNamesTwice(text: string): void {
  const seen = new Set<string>()
  const twice = new Set<string>()
  let depth = 0
  let last = ''
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    if (token === ':' && depth === 1) {
      const name = nameOf(last)
      if (seen.has(name)) twice.add(name)
      seen.add(name)
    }
    last = token
  }
  if (twice.size > 0) throw new UnreadableBodyError([...twice], ONCE)
}

/** The name as it is meant: the same one can be written with escapes. */
function nameOf(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token
  }
}

/** Parsers differ about percent signs that encode no UTF-8. */
function refuseBrokenPercents(text: string): void {
  const broken = text.split('&').filter((pair) => pair.includes('%') && !isEncoded(pair))
  if (broken.length === 0) return
  const fields = broken.map((pair) => pair.split('=')[0] ?? '')
  throw new UnreadableBodyError([...new Set(fields)], 'must be percent-encoded UTF-8')
}

function isEncoded(pair: string): boolean {
  try {
    decodeURIComponent(pair)
    return true
  } catch {
    return false
  }
}
