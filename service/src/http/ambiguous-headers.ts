import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { FieldError } from '../requests/parse.js'
import { problem } from './problem.js'

// With two of these headers, a proxy in front may have acted on the other one.
const SINGLE_HEADERS = ['host', 'authorization', 'content-type', 'content-length', 'idempotency-key']

/** Refuses requests whose headers could be understood in two ways. */
export const refuseAmbiguousHeaders: RequestHandler = function refuseAmbiguous(request, response, next) {
  const errors = ambiguousHeaders(request)
  if (errors.length > 0) problem(response, 'invalid_request', { errors })
  else next()
}

/** What is wrong with headers that could be understood in two ways. */
export function ambiguousHeaders({ rawHeaders, httpVersion }: IncomingMessage): FieldError[] {
  const names = rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const duplicates = SINGLE_HEADERS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name))
  const errors = duplicates.map((field) => ({ field, detail: 'must be given only once' }))
  const lacksHost = httpVersion === '1.1' && !names.includes('host')
  return lacksHost ? [...errors, { field: 'host', detail: 'must be given' }] : errors
}
