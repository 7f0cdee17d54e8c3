import express, { type RequestHandler } from 'express'
import { problem } from './problem.js'

const LIMIT_BYTES = 4_096

const knownType: RequestHandler = function refuseOtherTypes(request, response, next) {
  // `null`: no body at all, whose missing parameters are told one by one.
  if (request.is(['application/json', 'application/x-www-form-urlencoded']) === false) {
    return problem(response, 'unsupported_media_type')
  }
  next()
}

/** Reads a body of at most 4 KB, JSON or form-encoded (R82). Compressed bodies are not taken. */
export const readBody: readonly RequestHandler[] = [
  knownType,
  express.json({ limit: LIMIT_BYTES, inflate: false }),
  express.urlencoded({ limit: LIMIT_BYTES, inflate: false, extended: false, parameterLimit: 50 }),
]
