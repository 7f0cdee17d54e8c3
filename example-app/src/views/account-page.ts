import type { MfaStatus } from 'countersign'
import type { VaultUser } from '../store/users.js'
import { contact } from './contact.js'
import { factorsInWords, moment } from './format.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'
import { type Notice, noticeBox } from './notice.js'

/** The page about the account: who this is, and what protects them. */
export function accountPage(
  user: VaultUser,
  mfa: MfaStatus | undefined,
  notice: Notice | undefined,
  around: Around,
): string {
  const factors = factorsInWords(user)
  return layout({
    title: 'Account',
    viewer: user,
    here: 'account',
    around,
    body: html`<h1>Account</h1>
${noticeBox(notice)}
<div class="grid">
  <section class="card">
    <h2>You</h2>
    <dl>
      <dt>Name</dt><dd>${user.name}</dd>
      <dt>User name</dt><dd>${user.username}</dd>
      <dt>Email</dt><dd>${contact(user.email)}</dd>
      <dt>Phone</dt><dd>${user.phone ?? 'none'}</dd>
    </dl>
    <p><a href="/password">Change password</a></p>
  </section>
  <section class="card">
    <h2>Second step</h2>
    ${
      factors.length > 0
        ? html`<dl>${factors.map(({ name, to }) => html`<dt>${name}</dt><dd>${contact(to)}</dd>`)}</dl>`
        : html`<p class="notice">You have none yet. Without one, whoever knows your password can sign in, and nothing can be withdrawn.</p>`
    }
    ${mfa?.verifiedAt && html`<p class="muted">Last shown ${moment(mfa.verifiedAt)}.</p>`}
    ${mfa?.trusted && html`<p class="muted">Not asked for at this sign-in: you trust this browser.</p>`}
    <ul class="actions">
      <li><a href="/mfa/enroll-app">${user.appUser === null ? 'Set up an authenticator app' : 'Replace the authenticator app'}</a></li>
      ${
        factors.length > 0 &&
        html`<li><a href="/mfa/backup">Get backup codes</a></li>
      <li><a href="/mfa/devices">Trusted devices</a></li>`
      }
    </ul>
  </section>
</div>`,
  })
}
