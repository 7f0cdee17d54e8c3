import type { SessionDeps } from '../../session/state.js'
import { newToken } from '../../stores/trust/devices.js'
import { KNOWN_BROWSER_MS, type KnownBrowsers } from '../../stores/trust/known-browsers.js'
import { cookieReader, setCookie } from '../http/cookies.js'
import { type NotifyDeps, notify } from './notify.js'

const COOKIE = 'mfa_browser'

const browserIn = cookieReader(COOKIE, /[\w-]{43}/)

/** Notifies of a sign-in in a new browser, which a cookie names at random. Never delays or fails a sign-in. */
export function newBrowserNotice(known: KnownBrowsers, deps: NotifyDeps): SessionDeps['signedIn'] {
  return ({ req }, account) => {
    const { res } = req
    if (!res || res.headersSent) return
    const browser = browserIn(req) ?? newToken()
    setCookie(req, res, COOKIE, browser, '/', KNOWN_BROWSER_MS)
    known
      .meet(account.userId, browser)
      .then((isNew) => (isNew ? notify(deps, req, account, { type: 'new_browser' }) : undefined))
      .catch((error: unknown) =>
        deps.settings.logger.error(
          'countersign: the browser of a sign-in was not looked up; the user is signed in',
          error,
        ),
      )
  }
}
