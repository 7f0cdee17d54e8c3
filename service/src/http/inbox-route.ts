import type { RequestHandler } from 'express'
import type { Inbox } from '../delivery/inbox.js'
import { problem } from './problem.js'

/** `GET /v1/test/inbox?to=`: what the development inbox received, newest first. */
export function inboxRoute(inbox: Inbox): RequestHandler {
  return async function listInbox(request, response) {
    const { to } = request.query
    if (to !== undefined && (typeof to !== 'string' || /\p{Cc}/u.test(to))) {
      return problem(response, 'invalid_request', {
        errors: [{ field: 'to', detail: 'must be one contact' }],
      })
    }
    // A plus sign in a query string means a space; no contact begins with one.
    const contact = to?.replace(/^ (?=\d)/, '+')
    response.json({ messages: await inbox.messages({ to: contact || undefined }) })
  }
}
