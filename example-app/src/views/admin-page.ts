import type { BypassCode } from 'countersign'
import type { VaultUser } from '../store/users.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'

/** The page for staff: the form for a reset, or the bypass code of the reset that was just made. */
export function adminPage(
  user: VaultUser,
  done: (BypassCode & { readonly username: string }) | undefined,
  frame: Frame,
): string {
  return layout({
    title: 'Reset an account',
    viewer: user,
    frame,
    body: html`<section class="card narrow">
  <h1>Reset an account</h1>
  ${
    done
      ? html`<p>The account of <b>${done.username}</b> is reset. Give this code to the user in this conversation. It works once, for one hour, and is not shown again.</p>
  <p class="callout"><code>${done.code}</code></p>
  <p><a href="/admin">Reset another account</a></p>`
      : html`<p class="muted">First make sure whom you talk to. All second factors, sessions and trusted browsers of the user end, and all contacts of the account are told.</p>
  <form method="post" action="/admin/reset" class="stack">
    <label>User name <input name="username" required maxlength="100" autocomplete="off"></label>
    <label>Reason <input name="reason" required maxlength="500" autocomplete="off"></label>
    <label>Approved by <input name="approvedBy" required maxlength="100" autocomplete="off"></label>
    <button>Reset the account</button>
  </form>`
  }
</section>`,
  })
}
