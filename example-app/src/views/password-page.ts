import type { VaultUser } from '../store/users.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The page for changing the password. */
export function passwordPage(user: VaultUser, message: PageMessage | undefined, frame: Frame): string {
  return layout({
    title: 'Change password',
    viewer: user,
    here: 'account',
    frame,
    body: html`<section class="card narrow">
  <h1>Change password</h1>
  ${pageMessageBox(message)}
  <form method="post" action="/password" class="stack">
    <input type="text" name="username" value="${user.username}" autocomplete="username" hidden>
    <label>Current password
      <input name="current" type="password" autocomplete="current-password" required maxlength="200">
    </label>
    <label>New password
      <input name="next" type="password" autocomplete="new-password" required minlength="8" maxlength="200" aria-describedby="rule">
    </label>
    <p class="muted" id="rule">At least 8 characters, for example a few random words.</p>
    <button>Change password</button>
  </form>
  <p class="muted">This signs you out in every other browser.</p>
  <p><a href="/account">Cancel</a></p>
</section>`,
  })
}
