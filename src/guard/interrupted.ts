import type { Request } from 'express'
import { isSameOrigin } from '../http/request.js'
import type { InterruptedRequest } from '../session/record.js'
import { askedUrl, safeReturnTo } from '../session/return-to.js'
import type { Settings } from '../settings.js'
import type { Rule } from './rule.js'

/** The most that is kept of a form, in characters. */
const MAX_KEPT = 2_000

/**
 * What is kept of a form's POST that a rule interrupts: the fields that the rule names, as texts, and what they are called. Nothing of a request
 * from another site, which could otherwise put its own wishes into the user's mouth (R13); nothing of what is no form
 * of one text per field.
 */
export function interruptedRequest(
  req: Request,
  settings: Settings,
  wanted: Rule['resume'],
): InterruptedRequest | undefined {
  const path = safeReturnTo(askedUrl(req, settings))
  if (wanted.length === 0 || req.method !== 'POST' || !path || !isSameOrigin(req)) return undefined
  const body: unknown = req.body
  if (typeof body !== 'object' || body === null) return undefined
  const fields = wanted.flatMap(({ name }): [string, string][] => {
    const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
    return typeof value === 'string' ? [[name, value]] : []
  })
  if (fields.join().length > MAX_KEPT) return undefined
  const labels = wanted.flatMap(({ name, label }) => (label === undefined ? [] : [[name, label] as const]))
  return {
    path,
    at: Date.now(),
    fields: Object.fromEntries(fields),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
  }
}

/** Whether a form was posted that nobody has read yet, so that nothing of it can be kept. */
export function isUnparsedForm(req: Request): boolean {
  return req.body === undefined && typeof req.is(['urlencoded', 'multipart']) === 'string'
}
