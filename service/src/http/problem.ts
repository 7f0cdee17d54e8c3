import type { ServiceProblem, ServiceProblemCode, ServiceRefusal } from 'countersign/protocol'
import type { Response } from 'express'
import type { FieldFault } from '../verbs/requests.js'

const KNOWN: Readonly<Record<ServiceProblemCode, { readonly status: number; readonly title: string }>> = {
  invalid_request: { status: 400, title: 'The request is not valid.' },
  invalid_code: { status: 401, title: 'The code is not valid.' },
  invalid_api_key: { status: 401, title: 'The API key is missing or not valid.' },
  factor_disabled: { status: 403, title: 'This factor is disabled and must be set up again.' },
  method_off: { status: 403, title: 'This method is not offered.' },
  not_found: { status: 404, title: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, title: 'This address does not take this HTTP method.' },
  body_too_large: { status: 413, title: 'The body is larger than 4 KB.' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON or form-encoded, in UTF-8.' },
  contact_refused: { status: 422, title: 'This contact cannot be reached by this method.' },
  limited: { status: 429, title: 'Too many messages. Try again later.' },
  locked: { status: 429, title: 'Too many wrong codes. The account is locked for a while.' },
  internal_error: { status: 500, title: 'The service failed.' },
  delivery_failed: { status: 502, title: 'The message could not be delivered.' },
}

/** Answers with an RFC 9457 problem; 429 always says when to try again. */
export function problem(
  response: Response,
  code: ServiceProblemCode,
  more: {
    readonly detail?: string | undefined
    readonly errors?: readonly FieldFault[]
    readonly retryAfterSeconds?: number
  } = {},
): void {
  const { status, title } = KNOWN[code]
  const body: ServiceProblem = {
    type: `urn:countersign:problem:${code}`,
    title,
    status,
    code,
    ...(more.detail !== undefined && { detail: more.detail }),
    ...(more.retryAfterSeconds !== undefined && { retry_after: more.retryAfterSeconds }),
    ...(more.errors && { errors: [...more.errors] }),
  }
  if (more.retryAfterSeconds !== undefined) response.set('Retry-After', String(more.retryAfterSeconds))
  if (code === 'invalid_api_key') response.set('WWW-Authenticate', 'Bearer')
  response.status(status).type('application/problem+json').send(JSON.stringify(body))
}

/** Answers with what a verb refused. */
export function refuse(response: Response, refusal: ServiceRefusal): void {
  if (refusal.reason === 'limited' || refusal.reason === 'locked') {
    problem(response, refusal.reason, { retryAfterSeconds: refusal.retryAfterSeconds })
  } else if (refusal.reason === 'method_off') {
    problem(response, refusal.reason, { detail: refusal.detail })
  } else {
    problem(response, refusal.reason)
  }
}
