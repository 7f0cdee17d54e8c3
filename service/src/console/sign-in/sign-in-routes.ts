import type { RequestHandler } from 'express'
import { html } from '../../http/html-page.js'
import { formOf } from '../form.js'
import type { Page, PublicRoute } from '../page.js'
import { sendPage } from '../send-page.js'
import type { ConsolePassport } from './console-passport.js'

declare module 'express-session' {
  interface SessionData {
    /** The page of the console that was requested before signing in. */
    returnTo?: string
  }
}

/** The page with email address and password. */
export const SIGN_IN_ROUTES: readonly PublicRoute[] = [
  { method: 'get', path: '/console/sign-in', handle: () => signInPage('') },
]

const REFUSALS = {
  refused:
    'Email address or password is wrong. After an invitation, the second factor must be set up within an hour.',
  too_many_attempts: 'There were too many attempts. Try again in 15 minutes.',
} as const

/** Checks the password and starts the pending login, which ends with the second factor. */
export function signInHandler(passport: ConsolePassport): RequestHandler {
  return function signIn(request, response, next) {
    const { returnTo } = request.session
    passport.authenticate(
      'local',
      (error: unknown, user: Express.User | false | null, info?: { message?: string }) => {
        if (error) return next(error)
        if (!user) {
          const isLimited = info?.message === 'too_many_attempts'
          const text = REFUSALS[isLimited ? 'too_many_attempts' : 'refused']
          const page = signInPage(formOf(request.body).text('email'), text)
          return sendPage(response, { ...page, status: isLimited ? 429 : 401 }, undefined)
        }
        // Passport starts a new session here (R03), and the plugin withholds the user until the second factor.
        request.logIn(user, (failure: unknown) => {
          if (failure) return next(failure)
          if (returnTo !== undefined) request.session.returnTo = returnTo
          response.redirect(303, '/console/mfa')
        })
      },
    )(request, response, next)
  }
}

/** Ends the session. */
export const signOutHandler: RequestHandler = function signOut(request, response, next) {
  request.logout((error: unknown) => {
    if (error) return next(error)
    request.session.destroy((failure: unknown) => {
      if (failure) return next(failure)
      response.redirect(303, '/console/sign-in')
    })
  })
}

function signInPage(email: string, fault?: string): Page {
  return {
    title: 'Sign in',
    ...(fault !== undefined && { message: { tone: 'error', text: fault } }),
    main: html`<form class="form" method="post" action="/console/sign-in">
<div class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="320" required value="${email}"></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="400" required></div>
<button class="mfa-primary">Continue</button>
</form>
<p class="note">The next page asks for your second factor. If you have lost it, ask an administrator for a new invitation.</p>`,
  }
}
