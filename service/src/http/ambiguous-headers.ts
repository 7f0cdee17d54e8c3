import type { RequestHandler } from 'express'
import { problem } from './problem.js'

/** Headers that decide something: two of one kind are two opinions, and a proxy before us may have read the other. */
const ONLY_ONCE = ['host', 'authorization', 'content-type', 'content-length', 'idempotency-key']

/** Refuses heads that could be read in two ways. */
export const plainHead: RequestHandler = function refuseAmbiguousHeads(request, response, next) {
  const { rawHeaders, httpVersion } = request
  const names = rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const twice = ONLY_ONCE.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const errors = twice.map((field) => ({ field, detail: 'must be given once' }))
  if (httpVersion === '1.1' && !names.includes('host'))
    errors.push({ field: 'host', detail: 'must be given' })
  if (errors.length > 0) problem(response, 'invalid_request', { errors })
  else next()
}
