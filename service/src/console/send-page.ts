import type { Response } from 'express'
import type { OperatorAccount } from '../operator/operator-account.js'
import { layout, type Reply } from './page.js'
import { policyFor } from './security.js'

/** Responds with a page, or leads to the next one. */
export function sendPage(response: Response, reply: Reply, account: OperatorAccount | undefined): void {
  if ('redirect' in reply) return response.redirect(reply.status ?? 303, reply.redirect)
  if ('download' in reply) {
    const { name, type, body } = reply.download
    response.attachment(name).set('Content-Type', type).send(body)
    return
  }
  if (account || reply.scripts) response.set('Content-Security-Policy', policyFor(reply.scripts))
  response
    .status(reply.status ?? (reply.message?.tone === 'error' ? 422 : 200))
    .type('html')
    .send(layout(reply, account))
}
