import { ignore, nothing } from '../../no-op.js'
import type { SessionDeps } from '../../session/state.js'
import { newToken } from '../../stores/trust/devices.js'
import { KNOWN_BROWSER_MS, type KnownBrowsers } from '../../stores/trust/known-browsers.js'
import { cookieReader, setCookie } from '../http/cookies.js'
import { type NotifyDeps, notify } from './notify.js'

const COOKIE = 'mfa_browser'

const browserIn = cookieReader(COOKIE, /[\w-]{43}/)

/** Notifies of a sign-in in a new browser, which a cookie names at random. */
export type NewBrowsers = SessionDeps['newBrowsers'] & Pick<KnownBrowsers, 'forgetSince'>

/** For an app that does not notify of new browsers, and remembers none. */
export const NO_NEW_BROWSERS: NewBrowsers = { signedIn: ignore, forgetSince: nothing }

export function newBrowsersWith(known: KnownBrowsers, deps: NotifyDeps): NewBrowsers {
  return {
    forgetSince: known.forgetSince,
    signedIn({ req }, account) {
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
    },
  }
}
