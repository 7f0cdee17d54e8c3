import express, { type Request, type RequestHandler } from 'express'
import type * as z from 'zod'
import { Problem } from './problem.js'

const MAX_BODY = '4kb'

/** Reads JSON and form bodies of at most 4 KB. */
export const bodyParsers: readonly RequestHandler[] = [
  express.json({ limit: MAX_BODY }),
  express.urlencoded({ limit: MAX_BODY, extended: false }),
]

/**
 * The body as the schema describes it.
 * @throws {Problem} 415 for another content type, 400 for anything that does not fit.
 */
export function readBody<Schema extends z.ZodType>(req: Request, schema: Schema): z.output<Schema> {
  const hasBody = req.is('*/*') !== null
  if (hasBody && !req.is(['application/json', 'application/x-www-form-urlencoded'])) {
    throw new Problem('unsupported_media_type', 'Send application/json or a form.')
  }
  const parsed = schema.safeParse(req.body ?? {})
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => [...issue.path.map(String), issue.message].join(' '))
  throw new Problem('invalid_request', `${faults.join('; ')}.`)
}
