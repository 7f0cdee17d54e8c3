import type { Request } from 'express'

/** So many values of a header are remembered. Browsers and programs send far fewer. */
const MOST_VALUES = 200

/** A value that is longer is not remembered, so that a client cannot fill the memory. */
const MOST_CHARACTERS = 300

/**
 * A function of a request whose result depends on the header `name` alone. The result is remembered for each value of the
 * header, because parsing one costs more than the rest of a small response.
 */
export function byHeader<Result>(
  name: 'accept' | 'accept-language',
  read: (req: Request) => Result,
): (req: Request) => Result {
  const results = new Map<string, { readonly result: Result }>()
  return (req) => {
    const value = req.headers[name] ?? ''
    const known = results.get(value)
    if (known) return known.result
    const result = read(req)
    if (value.length > MOST_CHARACTERS) return result
    if (results.size >= MOST_VALUES) results.clear()
    results.set(value, { result })
    return result
  }
}
