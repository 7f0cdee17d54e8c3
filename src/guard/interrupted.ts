import type { Request } from 'express'
import { isSameOrigin } from '../http/request.js'
import type { InterruptedRequest } from '../session/record.js'
import { requestedUrl, safeReturnTo } from '../session/return-to.js'
import type { Settings } from '../settings.js'
import type { Rule } from './rule.js'

/** How many characters of a form are kept. A longer form is not kept at all. */
const MAX_KEPT = 2_000

/**
 * What the session keeps of a posted form that a rule interrupts: the fields that the rule lists, and their labels.
 * `undefined` for a request from another site, which could otherwise have its own values offered to the user (R13), and for
 * a body that is not a parsed form.
 */
export function interruptedRequest(
  req: Request,
  settings: Settings,
  { resume: wanted, resumeTitle: title }: Pick<Rule, 'resume' | 'resumeTitle'>,
): InterruptedRequest | undefined {
  const path = safeReturnTo(requestedUrl(req, settings))
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
    ...(title !== undefined && { title }),
  }
}

/** Whether a form was posted and no body parser ran before the rule, so that its fields cannot be kept. */
export function isUnparsedForm(req: Request): boolean {
  return req.body === undefined && typeof req.is(['urlencoded', 'multipart']) === 'string'
}
