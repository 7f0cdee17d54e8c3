import type { RequestHandler } from 'express'
import type { Inbox } from '../../carriers/inbox.js'
import { callingApplication } from '../authenticate.js'
import { problem } from '../problem.js'

/** The inboxes whose messages can be read over HTTP. */
export interface Inboxes {
  /** The messages of test keys. */
  readonly test: Inbox
  /** The messages of live keys, if they are delivered to the development inbox. */
  readonly live: Inbox | undefined
}

// At most 320 characters, without control characters and invalid UTF-8.
const CONTACT = /^[^\p{Cc}\p{Surrogate}\ufffd]{0,320}$/u

/** `GET /v1/test/inbox?to=`: the messages of the calling application, newest first. */
export function inboxRoute(inboxes: Inboxes): RequestHandler {
  return async function listInbox(request, response) {
    const application = callingApplication(request)
    const inbox = inboxes[application.mode]
    if (!inbox) {
      return problem(response, 'not_found', {
        detail: 'Messages of live keys are delivered: only test keys have an inbox.',
      })
    }
    const { to } = request.query
    if (to !== undefined && (typeof to !== 'string' || !CONTACT.test(to))) {
      return problem(response, 'invalid_request', {
        errors: [{ field: 'to', detail: 'must be one contact' }],
      })
    }
    // In a query string, a plus sign stands for a space, with which no contact begins.
    const contact = to?.replace(/^ (?=\d)/, '+')
    const messages = await inbox.messages(application.id, { to: contact || undefined })
    if (!response.headersSent) response.json({ messages })
  }
}
