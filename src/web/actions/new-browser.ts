import { ignore, nothing } from '../../no-op.js'
import { newToken } from '../../stores/trust/devices.js'
import { KNOWN_BROWSER_MS, type KnownBrowsers } from '../../stores/trust/known-browsers.js'
import { cookieReader, nameCookie, setCookie } from '../http/cookies.js'
import type { RouteDeps } from './context.js'
import { type NotifyDeps, notify } from './notify.js'

const COOKIE = 'mfa_browser'

const browserIn = cookieReader(COOKIE, /[\w-]{43}/)

/** For an app that does not notify of new browsers, and remembers none. */
export const NO_NEW_BROWSERS: RouteDeps['newBrowsers'] = { signedIn: ignore, forgetSince: nothing }

/** Notifies of a sign-in in a new browser, which a cookie names at random. */
export function createNewBrowsers(known: KnownBrowsers, deps: NotifyDeps): RouteDeps['newBrowsers'] {
  const { users } = deps.settings
  return {
    forgetSince: known.forgetSince,
    signedIn(req, account) {
      const { res } = req
      if (!res || res.headersSent) return
      const browser = browserIn(req, users) ?? newToken()
      setCookie(req, res, nameCookie(users, COOKIE), browser, '/', KNOWN_BROWSER_MS)
      known
        .meet(account.userId, browser)
        .then((isNew) => (isNew ? notify({ req, deps, state: account }, { type: 'new_browser' }) : undefined))
        .catch((error: unknown) =>
          deps.settings.logger.error(
            'countersign: the browser of a sign-in was not looked up; the user is signed in',
            error,
          ),
        )
    },
  }
}
