import type { RequestHandler } from 'express'
import type { Inbox } from '../../carriers/inbox.js'
import { callingApplication } from '../flow-route.js'
import { problem } from '../problem.js'

/** The inboxes whose messages may be read over HTTP. */
export interface Inboxes {
  /** What test keys sent. */
  readonly test: Inbox
  /** What live keys sent, when it is delivered to the development inbox. */
  readonly live: Inbox | undefined
}

// 320 characters, none of them a control character or a sign of broken UTF-8.
const CONTACT = /^[^\p{Cc}\p{Surrogate}\ufffd]{0,320}$/u

/** `GET /v1/test/inbox?to=`: the messages of the calling application, newest first. */
export function inboxRoute(inboxes: Inboxes): RequestHandler {
  return async function listInbox(request, response) {
    const application = callingApplication(request)
    const inbox = inboxes[application.mode]
    if (!inbox) {
      return problem(response, 'not_found', {
        detail: 'Messages of live keys leave: only test keys have an inbox.',
      })
    }
    const { to } = request.query
    if (to !== undefined && (typeof to !== 'string' || !CONTACT.test(to))) {
      return problem(response, 'invalid_request', {
        errors: [{ field: 'to', detail: 'must be one contact' }],
      })
    }
    // A plus sign in a query string means a space; no contact begins with one.
    const contact = to?.replace(/^ (?=\d)/, '+')
    response.json({ messages: await inbox.messages(application.id, { to: contact || undefined }) })
  }
}
