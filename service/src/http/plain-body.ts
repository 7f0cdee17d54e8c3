/** A body whose parameters could be read in two ways. */
export class AmbiguousBodyError extends Error {
  readonly fields: readonly string[]
  /** What is wrong with each of them. */
  readonly detail: string

  constructor(fields: readonly string[], detail: string) {
    super('The body could be read in two ways.')
    this.name = 'AmbiguousBodyError'
    this.fields = fields
    this.detail = detail
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]|:/g

/**
 * Throws an `AmbiguousBodyError` when the outermost object of a JSON text has a name twice: `JSON.parse` takes the
 * last one without a word. What is no JSON at all is left to the parser.
 */
export function refuseNamesTwice(text: string): void {
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
  if (twice.size > 0) throw new AmbiguousBodyError([...twice], 'must be given once')
}

/** The name as it is meant: the same one can be written with escapes. */
function nameOf(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token
  }
}

/** Throws an `AmbiguousBodyError` when a form holds percent signs that encode no UTF-8: parsers differ about them. */
export function refuseBrokenPercents(text: string): void {
  const broken = text.split('&').filter((pair) => pair.includes('%') && !isEncoded(pair))
  if (broken.length === 0) return
  const fields = broken.map((pair) => pair.split('=')[0] ?? '')
  throw new AmbiguousBodyError([...new Set(fields)], 'must be percent-encoded UTF-8')
}

function isEncoded(pair: string): boolean {
  try {
    decodeURIComponent(pair)
    return true
  } catch {
    return false
  }
}
