import express, { type Request, type Response } from 'express'
import type * as z from 'zod'
import { MAX_KEY_BODY_BYTES } from '../../routes/bodies.js'
import type { Problem } from './problem.js'

/** The size of the largest accepted body, in bytes (R82). */
const MAX_BODY_BYTES = 4 * 1024

const createParsers = (limit: number) => ({
  json: express.json({ limit, type: ['application/json', 'application/*+json'] }),
  form: express.urlencoded({ limit, extended: false, parameterLimit: 20 }),
})

const parsers = new Map([MAX_BODY_BYTES, MAX_KEY_BODY_BYTES].map((limit) => [limit, createParsers(limit)]))

/** A fault of the body of a request. */
export type BodyFault = Problem & {
  readonly code: 'invalid_request' | 'body_too_large' | 'unsupported_media_type'
}

/** Reads the request's body, parsed or not, and its known fields: strings where strings are expected (R81). */
export async function readBody<Fields>(
  req: Request,
  res: Response,
  schema: z.ZodType<Fields>,
  maxBytes = MAX_BODY_BYTES,
): Promise<{ readonly fields: Fields } | { readonly fault: BodyFault }> {
  if (hasBody(req)) {
    const type = req.is(['json', '+json', 'urlencoded'])
    if (!type) return { fault: { code: 'unsupported_media_type' } }
    if (Number(req.get('content-length') ?? 0) > maxBytes) return { fault: { code: 'body_too_large' } }
    const failed = await parse(req, res, type === 'urlencoded' ? 'form' : 'json', maxBytes)
    if (failed) return { fault: { code: failed } }
  }

  const body: unknown = req.body ?? {}
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { fault: { code: 'invalid_request', errors: [{ field: '', detail: 'must be an object' }] } }
  }
  if (isTooLarge(body, maxBytes)) return { fault: { code: 'body_too_large' } }
  const parsed = schema.safeParse({ ...body })
  if (parsed.success) return { fields: parsed.data }
  const errors = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), detail: message }))
  return { fault: { code: 'invalid_request', errors } }
}

/** Checked again here: the host's own parser may accept more bytes than ours, or deeply nested lists. */
function isTooLarge(body: object, maxBytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(body)) > 2 * maxBytes
  } catch {
    return true
  }
}

function hasBody(req: Request): boolean {
  return req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0
}

async function parse(
  req: Request,
  res: Response,
  format: 'json' | 'form',
  maxBytes: number,
): Promise<BodyFault['code'] | undefined> {
  const parser = parsers.get(maxBytes)?.[format]
  const error = await new Promise<unknown>((resolve) =>
    parser ? parser(req, res, resolve) : resolve(undefined),
  )
  if (!error) return undefined
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined
  if (status === 413) return 'body_too_large'
  return status === 415 ? 'unsupported_media_type' : 'invalid_request'
}
