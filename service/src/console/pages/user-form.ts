import { type Html, html } from '../../http/html-page.js'
import type { UserReference } from '../../operator/user-reference.js'
import type { PageRequest } from '../page.js'
import { applicationOf, applicationPath } from './applications.js'

/** The user that a form names. */
export async function referenceOf(request: PageRequest): Promise<UserReference> {
  const { form } = request
  return {
    application: await applicationOf(request),
    mode: form.text('mode') === 'test' ? 'test' : 'live',
    user: form.text('user'),
    isAccount: form.text('kind') === 'account',
  }
}

/** A form with one button, for an action on a user. */
export function userForm(user: UserReference, action: string, content: Html, className = ''): Html {
  return html`<form${className && html` class="${className}"`} method="post" action="${applicationPath(user.application, `/users/${action}`)}">
<input type="hidden" name="user" value="${user.user}">
<input type="hidden" name="kind" value="${user.isAccount ? 'account' : 'contact'}">
<input type="hidden" name="mode" value="${user.mode}">${content}</form>`
}
