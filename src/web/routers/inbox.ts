import type { Request, Router } from 'express'
import type { RouteDeps } from '../actions/context.js'
import { sendText, setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'
import type { RouteParts } from './context.js'

/** `GET /inbox`: the messages with their codes, in development, for a browser on this machine. */
export function addInboxRoutes(router: Router, _deps: RouteDeps, { inbox }: RouteParts): void {
  if (!inbox) return
  router.get('/inbox', function mfaInbox(req, res, next) {
    setSecurityHeaders(res)
    if (!isFromThisMachine(req)) return sendProblem(res, { code: 'not_found' })
    const show = async () => {
      const messages = await inbox()
      if (!wantsHtml(req)) return void res.json({ messages })
      const texts = messages.map(({ at, channel, to, text }) => `${at} ${channel} ${to}\n\n${text}`)
      sendText(res, 'text/plain', texts.join('\n\n---\n\n') || 'No message was sent yet.')
    }
    show().catch(next)
  })
}

/** A name or an address of this machine, as `Host` or a socket has it. */
const LOCAL = /^(localhost|\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/

/** The headers by which a proxy or a tunnel shows itself, whose visitors are anywhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** Whether the browser runs on this machine, by address and by the local name in `Host` (DNS rebinding). */
function isFromThisMachine(req: Request): boolean {
  const name = `http://${req.headers.host ?? ''}`
  return (
    LOCAL.test(req.socket.remoteAddress ?? '') &&
    FORWARDED.every((header) => req.headers[header] === undefined) &&
    URL.canParse(name) &&
    LOCAL.test(new URL(name).hostname)
  )
}
