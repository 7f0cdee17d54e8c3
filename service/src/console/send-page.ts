import type { Response } from 'express'
import type { OperatorAccount } from '../operator/operator-account.js'
import { type Reply, renderLayout } from './page.js'
import { createPolicy } from './security.js'

/** Responds with a page, or leads to the next one. */
export function sendPage(response: Response, reply: Reply, account: OperatorAccount | undefined): void {
  if ('redirect' in reply) return response.redirect(reply.status ?? 303, reply.redirect)
  if ('download' in reply) {
    const { name, type, body } = reply.download
    response.attachment(name).set('Content-Type', type).send(body)
    return
  }
  if (account || reply.scripts) response.set('Content-Security-Policy', createPolicy(reply.scripts))
  response
    .status(reply.status ?? (reply.message?.tone === 'error' ? 422 : 200))
    .type('html')
    .send(renderLayout(reply, account))
}
