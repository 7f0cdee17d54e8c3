import type { VaultUser } from '../store/users.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'
import { type Notice, noticeBox } from './notice.js'

/** The form for a new password. */
export function passwordPage(user: VaultUser, notice: Notice | undefined, around: Around): string {
  return layout({
    title: 'Change password',
    viewer: user,
    here: 'account',
    around,
    body: html`<section class="card narrow">
  <h1>Change password</h1>
  ${noticeBox(notice)}
  <form method="post" action="/password" class="stack">
    <input type="text" name="username" value="${user.username}" autocomplete="username" hidden>
    <label>Current password
      <input name="current" type="password" autocomplete="current-password" required maxlength="200">
    </label>
    <label>New password
      <input name="next" type="password" autocomplete="new-password" required minlength="8" maxlength="200" aria-describedby="rule">
    </label>
    <p class="muted" id="rule">At least 8 characters. A few words in a row do well.</p>
    <button>Change password</button>
  </form>
  <p class="muted">Every other browser where you are signed in, or halfway in, will have to sign in again.</p>
</section>`,
  })
}
