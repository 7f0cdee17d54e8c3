import express, { type Request, type Response } from 'express'
import * as z from 'zod'
import { isKeyName, NO_KEY_NAME } from '../../protocol/keys-wire.js'
import { KEY_METHODS, MAX_CODE_LENGTH } from '../../protocol/methods.js'
import type { Problem } from './problem.js'

/** The size of the largest accepted body, in bytes (R82). */
const MAX_BODY_BYTES = 4 * 1024

/** The same for a new key, whose attestation may hold a chain of certificates. */
export const MAX_KEY_BODY_BYTES = 32 * 1024

const parsersFor = (limit: number) => ({
  json: express.json({ limit, type: ['application/json', 'application/*+json'] }),
  form: express.urlencoded({ limit, extended: false, parameterLimit: 20 }),
})

const parsers = new Map([MAX_BODY_BYTES, MAX_KEY_BODY_BYTES].map((limit) => [limit, parsersFor(limit)]))

const text = (max: number) =>
  z.string({ error: 'must be a single string' }).max(max, { error: `must be at most ${max} characters` })

/** A code as the user typed it. */
export const codeField = text(MAX_CODE_LENGTH).min(1, { error: 'must not be empty' })

/** A factor's id or method, or `backup`. */
export const factorField = text(32).min(1, { error: 'must not be empty' })

/** The id of what the user is asked to approve. */
export const approvalField = text(64).min(1, { error: 'must not be empty' })

/** Whether to trust the browser: a boolean in JSON, a checkbox in a form. */
export const trustField = z
  .union([z.boolean(), z.enum(['true', 'false', 'on'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 'true' || value === 'on')

/** A trusted device's public id. */
export const deviceField = text(64).min(1, { error: 'must not be empty' })

/** The token of a notice's link. */
export const linkTokenField = text(128).min(1, { error: 'must not be empty' })

/** A language tag (BCP 47). */
export const languageField = text(35).min(1, { error: 'must not be empty' })

/** The path of a page on this site. */
export const pageField = text(2_000)

/** The method of a key. */
export const keyMethodField = z.enum(KEY_METHODS, { error: `must be one of ${KEY_METHODS.join(', ')}` })

/** The id of a key. */
export const keyField = text(1_364).min(1, { error: 'must not be empty' })

/** The user's name for a key. */
export const keyNameField = text(60)
  .trim()
  .min(1, { error: 'must not be empty' })
  .refine(isKeyName, { error: NO_KEY_NAME })

/** Adds an issue unless a body has either a code or the response of a key. */
export function requireOneProof(
  { code, response }: { readonly code?: unknown; readonly response?: unknown },
  context: z.RefinementCtx,
): void {
  if (code === undefined && response === undefined) {
    context.addIssue({ code: 'custom', path: ['code'], message: 'must be a single string' })
  }
  if (code !== undefined && response !== undefined) {
    context.addIssue({ code: 'custom', path: ['response'], message: 'must be absent beside code' })
  }
}

/** Why a body was rejected. */
export type BodyFault = Problem & {
  readonly code: 'invalid_request' | 'body_too_large' | 'unsupported_media_type'
}

/**
 * Reads the request's body, whether or not the host has parsed it, and checks its fields: only strings where strings are
 * expected (R81). Unknown fields are ignored, since forms contain buttons and tokens of the host.
 */
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
    return { fault: invalid([{ field: '', detail: 'must be an object' }]) }
  }
  if (isTooLarge(body, maxBytes)) return { fault: { code: 'body_too_large' } }
  const parsed = schema.safeParse({ ...body })
  if (parsed.success) return { fields: parsed.data }
  return {
    fault: invalid(
      parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), detail: message })),
    ),
  }
}

/** Checked again here: the host's own parser may accept more bytes than ours, or deeply nested lists. */
function isTooLarge(body: object, maxBytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(body)) > 2 * maxBytes
  } catch {
    return true
  }
}

function invalid(errors: { field: string; detail: string }[]): BodyFault {
  return { code: 'invalid_request', errors }
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
  const status: unknown = error instanceof Error ? Reflect.get(error, 'status') : undefined
  if (status === 413) return 'body_too_large'
  return status === 415 ? 'unsupported_media_type' : 'invalid_request'
}
