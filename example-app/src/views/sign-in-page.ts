import type { SeedUser } from '../seed-users.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'
import { type Notice, noticeBox } from './notice.js'

/** What the sign-in page shows. */
export interface SignInView {
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly notice?: Notice | undefined
  /** Somebody is halfway through signing in in this browser. */
  readonly halfway: boolean
  /** Who can sign in; empty in production. */
  readonly people: readonly SeedUser[]
  readonly around: Around
}

/** The page to sign in on. */
export function signInPage(view: SignInView): string {
  return layout({
    title: 'Sign in',
    viewer: undefined,
    here: 'sign-in',
    around: view.around,
    body: html`<div class="${view.people.length > 0 ? 'beside' : 'narrow'}">
<section class="card">
  <h1>Sign in</h1>
  ${noticeBox(view.notice)}
  ${view.halfway && html`<p class="notice">Your password was right and the second step is waiting. <a href="/mfa">Go on with it</a>, or sign in as somebody else.</p>`}
  <form method="post" action="/login" class="stack">
    <label>User name
      <input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="100" value="${view.username}"${!view.username && html` autofocus`}>
    </label>
    <label>Password
      <input name="password" type="password" autocomplete="current-password" required maxlength="200" value="${view.password}">
    </label>
    <button>Sign in</button>
  </form>
</section>
${view.people.length > 0 && peopleList(view.people)}
</div>`,
  })
}

function peopleList(people: readonly SeedUser[]) {
  return html`<section class="people">
  <h2>Who you can be</h2>
  <p class="muted">Only shown in development. Pick one, and the form is filled in.</p>
  <ul>${people.map(
    (person) => html`
    <li><a href="/login?as=${person.username}"><b>${person.username}</b> <span>${person.shows}</span> <code>${person.password}</code></a></li>`,
  )}
  </ul>
</section>`
}
