import type { SeedUser } from '../seed-users.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The data of the sign-in page. */
export interface SignInView {
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly message?: PageMessage | undefined
  /** Whether this browser has a pending login. */
  readonly isPending: boolean
  /** The users that the page lists; empty in production. */
  readonly seedUsers: readonly SeedUser[]
  /** The route of the sign-in at the identity provider, if there is one. */
  readonly companySignIn?: string | undefined
  readonly frame: Frame
}

/** The sign-in page. */
export function signInPage(view: SignInView): string {
  return layout({
    title: 'Sign in',
    viewer: undefined,
    here: 'sign-in',
    frame: view.frame,
    body: html`<div class="${view.seedUsers.length > 0 ? 'beside' : 'narrow'}">
<section class="card">
  <h1>Sign in</h1>
  ${pageMessageBox(view.message)}
  ${view.isPending && html`<p class="callout">Your password is correct, and the second step is missing. <a href="/mfa">Continue</a>, or sign in as another user.</p>`}
  <form method="post" action="/login" class="stack">
    <label>User name
      <input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="100" value="${view.username}"${!view.username && html` autofocus`}>
    </label>
    <label>Password
      <input name="password" type="password" autocomplete="current-password" required maxlength="200" value="${view.password}"${view.username && !view.password && html` autofocus`}>
    </label>
    <button>Sign in</button>
  </form>
  ${view.companySignIn && html`<p><a href="${view.companySignIn}">Sign in with Vault ID</a></p>`}
</section>
${view.seedUsers.length > 0 && seedUserList(view.seedUsers)}
</div>`,
  })
}

function seedUserList(seedUsers: readonly SeedUser[]) {
  return html`<section class="users">
  <h2>Test users</h2>
  <p class="muted">Shown only in development. Choose a user to fill in the form.</p>
  <ul>${seedUsers.map(
    (person) => html`
    <li><a href="/login?as=${person.username}"><b>${person.username}</b> <span>${person.shows}</span> <code>${person.password}</code></a></li>`,
  )}
  </ul>
</section>`
}
