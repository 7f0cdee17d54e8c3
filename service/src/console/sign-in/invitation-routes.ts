import type { Request, Response } from 'express'
import { html } from '../../http/html-page.js'
import { findInvited } from '../../operator/operator-account.js'
import { OperatorError } from '../../operator/operator-error.js'
import { PASSWORD_LENGTH } from '../../operator/operator-invitations.js'
import { formOf } from '../form.js'
import type { Page, PublicRoute, Reply } from '../page.js'
import type { ConsoleParts } from '../parts.js'

/** Choosing a password with the link of an invitation. */
export const INVITATION_ROUTES: readonly PublicRoute[] = [
  { method: 'get', path: '/console/invitation/:token', handle: showInvitation },
  { method: 'post', path: '/console/invitation/:token', handle: acceptInvitation },
]

async function showInvitation(
  request: Request,
  _response: Response,
  { store }: ConsoleParts,
): Promise<Reply> {
  const invited = await findInvited(store, tokenOf(request))
  return invited ? passwordPage(invited.email) : NO_INVITATION
}

async function acceptInvitation(
  request: Request,
  _response: Response,
  { store, operator }: ConsoleParts,
): Promise<Reply> {
  const token = tokenOf(request)
  const invited = await findInvited(store, token)
  if (!invited) return NO_INVITATION
  const form = formOf(request.body)
  const password = form.exact('password')
  if (password !== form.exact('again')) return passwordPage(invited.email, 'The two passwords differ.')
  try {
    await operator(invited.email).acceptInvitation(token, password)
  } catch (error) {
    if (error instanceof OperatorError) return passwordPage(invited.email, error.message)
    throw error
  }
  return {
    title: 'Password set',
    main: html`<p>Sign in now, and set up your second factor within an hour.</p>
<p><a class="mfa-primary" href="/console/sign-in">Sign in</a></p>`,
  }
}

function tokenOf(request: Request): string {
  return String(request.params.token)
}

const NO_INVITATION: Page = {
  title: 'Invitation not valid',
  status: 404,
  main: html`<p>The link was used already, is older than 24 hours, or still waits for the approval of a second administrator. Ask an administrator for a new invitation.</p>`,
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
