import { Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { frameOf } from '../http/frame.js'
import { requireInboxKey } from '../http/inbox-key.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { inboxPage } from '../views/inbox-page.js'

const filter = z.object({
  to: z
    .string()
    .max(320)
    .regex(/^\P{Cc}*$/u)
    .optional(),
})

/** `GET /inbox`: all messages, in development, for requests with its key. In production, and with an external service, there is no such page. */
export function inboxRoutes({ config, inbox }: VaultContext): Router {
  const router = Router()
  if (config.production) return router
  if (!inbox) {
    router.get('/inbox', () => {
      throw new Problem(
        'not_available',
        'Another service delivers the messages, so they cannot be shown here.',
      )
    })
    return router
  }
  router.get('/inbox', requireInboxKey(inbox.key), async (req, res) => {
    const parsed = filter.safeParse(req.query)
    if (!parsed.success) throw new Problem('invalid_request', 'to must be one contact.')
    const { to } = parsed.data
    const messages = await inbox.messages(to ? { to } : {})
    if (wantsJson(req)) res.json({ messages })
    else
      res.send(
        inboxPage({ messages, apps: inbox.apps(), to, viewer: req.user, frame: frameOf(req, { inbox }) }),
      )
  })
  return router
}
