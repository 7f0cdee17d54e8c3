import type { Router } from 'express'
import { digestOf } from '../../digest.js'
import { isToken } from '../../stores/trust/devices.js'
import type { RouteDeps } from '../actions/context.js'
import { cookieReader, nameCookie, setCookie, YEAR_MS } from '../http/cookies.js'
import { sendText, setSecurityHeaders } from '../http/headers.js'
import { sendProblem } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'
import type { RouteParts } from './context.js'

const HEADER = 'MFA-Inbox-Key'
const COOKIE = 'mfa_inbox'
const readCookie = cookieReader(COOKIE, /[\w-]+/)

const NO_KEY = `The inbox asks for its key. Open the address that the app logs at its start, or send the key in the header ${HEADER}.`

/**
 * `GET /inbox`: the messages with their codes, in development, for requests with the key that only the terminal shows (R145). Where a
 * request seems to come from says nothing: behind a proxy, every request comes from this machine.
 */
export function addInboxRoutes(
  router: Router,
  { settings: { users } }: RouteDeps,
  { inbox }: RouteParts,
): void {
  if (!inbox) return
  router.get('/inbox', function mfaInbox(req, res, next) {
    setSecurityHeaders(res)
    const show = async () => {
      const hash = digestOf(await inbox.key())
      const isKey = (given: unknown) => typeof given === 'string' && isToken(given, hash)
      const path = `${req.baseUrl}/inbox`
      if (isKey(req.query.key)) {
        setCookie(req, res, nameCookie(users, COOKIE), hash, path, YEAR_MS)
        return res.redirect(303, path)
      }
      if (!isKey(req.get(HEADER)) && !isToken(readCookie(req, users) ?? '', digestOf(hash))) {
        if (!wantsHtml(req)) return sendProblem(res, { code: 'not_found' })
        res.status(404)
        return sendText(res, 'text/plain', NO_KEY)
      }
      const messages = await inbox.messages()
      if (!wantsHtml(req)) return void res.json({ messages })
      const texts = messages.map(({ at, channel, to, text }) => `${at} ${channel} ${to}\n\n${text}`)
      sendText(res, 'text/plain', texts.join('\n\n---\n\n') || 'No message was sent yet.')
    }
    show().catch(next)
  })
}
