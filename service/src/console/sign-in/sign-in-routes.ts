import type { Request, RequestHandler, Response } from 'express'
import { html } from '../../html.js'
import { OperatorError } from '../../operator/audited-change.js'
import { findInvited } from '../../operator/operator-account.js'
import { PASSWORD_LENGTH } from '../../operator/operator-invitations.js'
import { readForm } from '../form.js'
import type { Page, PublicRoute, Reply } from '../page.js'
import type { ConsoleParts } from '../parts.js'
import { sendPage } from '../send-page.js'
import { type ConsolePassport, getOperator, OIDC_PATH } from './console-mfa.js'

declare module 'express-session' {
  interface SessionData {
    /** The page of the console that was requested before signing in. */
    returnTo?: string
  }
}

const LEFT_CONSOLE = {
  tone: 'success',
  text: 'You are signed out of the console, but not at your company’s sign-in: sign out there, too, if others use this browser.',
} as const

/** The page with email address and password. */
export const SIGN_IN_ROUTES: readonly PublicRoute[] = [
  {
    ...{ method: 'get', path: '/console/sign-in' },
    handle: ({ query }, _response, parts) => ({
      ...signInPage(parts, ''),
      ...('company' in query && { message: LEFT_CONSOLE }),
    }),
  },
]

const REFUSALS = {
  refused:
    'Email address or password is wrong. After an invitation, the second factor must be set up within an hour.',
  too_many_attempts: 'There were too many attempts. Try again in 15 minutes.',
} as const

/** Checks the password and starts the pending login, which ends with the second factor. */
export function signInHandler(parts: ConsoleParts, passport: ConsolePassport): RequestHandler {
  return function signIn(request, response, next) {
    const { returnTo } = request.session
    passport.authenticate(
      'local',
      (error: unknown, user: Express.User | false | null, info?: { message?: string }) => {
        if (error) return next(error)
        if (!user) {
          const isLimited = info?.message === 'too_many_attempts'
          const text = REFUSALS[isLimited ? 'too_many_attempts' : 'refused']
          const page = signInPage(parts, readForm(request.body).text('email'), text)
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

/** Ends the session. The identity provider's session goes on, and the page says so. */
export const signOutHandler: RequestHandler = function signOut(request, response, next) {
  const isExternal = request.user && getOperator(request.user).isExternal
  request.logout((error: unknown) => {
    if (error) return next(error)
    request.session.destroy((failure: unknown) => {
      if (failure) return next(failure)
      response.redirect(303, `/console/sign-in${isExternal ? '?company' : ''}`)
    })
  })
}

function signInPage({ oidc }: ConsoleParts, email: string, fault?: string): Page {
  return {
    title: 'Sign in',
    ...(fault !== undefined && { message: { tone: 'error', text: fault } }),
    main: html`${
      oidc &&
      html`<p><a class="mfa-primary" href="${OIDC_PATH}">Sign in with your company</a></p>
<p class="note">Or with an account of the console:</p>`
    }
<form class="form" method="post" action="/console/sign-in">
<div class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="320" required value="${email}"></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="400" required></div>
<button class="mfa-primary">Continue</button>
</form>
<p class="note">The next page asks for your second factor. If you have lost it, ask an administrator for a new invitation.</p>`,
  }
}

/** Choosing a password with the link of an invitation. */
export const INVITATION_ROUTES: readonly PublicRoute[] = [
  { method: 'get', path: '/console/invitation/:token', handle: showInvitation },
  { method: 'post', path: '/console/invitation/:token', handle: acceptInvitation },
]

async function showInvitation(request: Request, _response: Response, { store }: ConsoleParts) {
  const invited = await findInvited(store, readToken(request))
  return invited ? passwordPage(invited.email) : NO_INVITATION
}

async function acceptInvitation(
  request: Request,
  _response: Response,
  { store, operator }: ConsoleParts,
): Promise<Reply> {
  const token = readToken(request)
  const invited = await findInvited(store, token)
  if (!invited) return NO_INVITATION
  const form = readForm(request.body)
  const password = form.exact('password')
  if (password !== form.exact('again')) return passwordPage(invited.email, 'The two passwords differ.')
  try {
    await operator(invited.email).acceptInvitation(token, password)
  } catch (error) {
    if (error instanceof OperatorError) return passwordPage(invited.email, error.message)
    throw error
  }
  // The form has what a sign-in needs, which starts a new session (R03) and asks for the second factor (R106).
  return { redirect: '/console/sign-in', status: 307 }
}

function readToken(request: Request): string {
  return String(request.params.token)
}

const NO_INVITATION: Page = {
  title: 'Invitation not valid',
  status: 404,
  main: html`<p>The link was used already, is older than 24 hours, or still waits for the consent of a second administrator. Ask an administrator for a new invitation.</p>
<p><a href="/console/sign-in">Sign in</a></p>`,
}

function passwordPage(email: string, fault?: string): Page {
  const { min, max } = PASSWORD_LENGTH
  return {
    title: 'Choose a password',
    ...(fault !== undefined && { message: { tone: 'error', text: fault }, status: 422 }),
    main: html`<form class="form" method="post">
<div class="field"><label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" readonly value="${email}"></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${min}" maxlength="${max * 2}" required aria-describedby="password-hint">
<span class="mfa-hint" id="password-hint">At least ${min} characters. A sentence is easy to remember.</span></div>
<div class="field"><label for="again">Password again</label>
<input id="again" name="again" type="password" autocomplete="new-password" required></div>
<button class="mfa-primary">Set the password</button>
</form>`,
  }
}
