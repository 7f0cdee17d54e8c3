import express, { type RequestHandler } from 'express'
import { refuseBrokenPercents, refuseNamesTwice } from './plain-body.js'
import { problem } from './problem.js'

const LIMIT_BYTES = 4_096

const knownType: RequestHandler = function refuseOtherTypes(request, response, next) {
  const known = request.is(['application/json', 'application/x-www-form-urlencoded'])
  // Without any body the parameters are missing, and are told one by one.
  if (known === false && request.get('content-length') !== '0') problem(response, 'unsupported_media_type')
  else next()
}

/** Reads a body of at most 4 KB, JSON or form-encoded (R82). Compressed bodies are not taken. */
export const readBody: readonly RequestHandler[] = [
  knownType,
  express.json({
    limit: LIMIT_BYTES,
    inflate: false,
    verify: (_request, _response, body) => refuseNamesTwice(body.toString('utf8')),
  }),
  express.urlencoded({
    limit: LIMIT_BYTES,
    inflate: false,
    extended: false,
    parameterLimit: 50,
    verify: (_request, _response, body) => refuseBrokenPercents(body.toString('utf8')),
  }),
]
