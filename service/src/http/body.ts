import express, { type RequestHandler } from 'express'
import { parseForm, parseJson } from './parse-body.js'
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
