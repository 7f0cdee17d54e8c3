import type { RequestHandler } from 'express'
import { problem } from './problem.js'

// With two of these headers, a proxy in front may have acted on the other one.
const SINGLE_HEADERS = ['host', 'authorization', 'content-type', 'content-length', 'idempotency-key']

/** Refuses requests whose headers could be understood in two ways. */
export const refuseAmbiguousHeaders: RequestHandler = function refuseAmbiguous(request, response, next) {
  const { rawHeaders, httpVersion } = request
  const names = rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const duplicates = SINGLE_HEADERS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const errors = duplicates.map((field) => ({ field, detail: 'must be given only once' }))
  if (httpVersion === '1.1' && !names.includes('host'))
    errors.push({ field: 'host', detail: 'must be given' })
  if (errors.length > 0) problem(response, 'invalid_request', { errors })
  else next()
}
