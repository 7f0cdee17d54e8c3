import type { MfaStatus } from 'countersign'
import type { Key } from 'countersign/protocol'
import type { VaultUser } from '../store/users.js'
import { contact } from './contact.js'
import { factorsInWords, moment, phoneNumber } from './format.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The factors that protect the account. */
export interface AccountSecurity {
  readonly mfa: MfaStatus | undefined
  /** `undefined` if the service offers no passkeys and security keys. */
  readonly keys: readonly Key[] | undefined
}

/** The account page: the user's data and second factors. */
export function accountPage(
  user: VaultUser,
  { mfa, keys }: AccountSecurity,
  message: PageMessage | undefined,
  frame: Frame,
): string {
  const factors = factorsInWords(user, keys)
  const hasFactor = factors.length > 0
  return layout({
    title: 'Account',
    viewer: user,
    here: 'account',
    frame,
    body: html`<h1>Account</h1>
${pageMessageBox(message)}
<div class="grid">
  <section class="card">
    <h2>You</h2>
    <dl>
      <dt>Name</dt><dd>${user.name}</dd>
      <dt>User name</dt><dd>${user.username}</dd>
      <dt>Email</dt><dd>${contact(user.email)}</dd>
      <dt>Phone</dt><dd>${user.phone === null ? 'none' : phoneNumber(user.phone)}</dd>
    </dl>
    ${
      !frame.acting &&
      html`<p><a href="/phone">${user.phone === null ? 'Add a phone number' : 'Change phone number'}</a></p>
    <p><a href="/password">Change password</a></p>`
    }
  </section>
  <section class="card">
    <h2>Two-step verification</h2>
    ${
      hasFactor
        ? html`<dl>${factors.map(({ name, to }) => html`<dt>${name}</dt><dd>${contact(to)}</dd>`)}</dl>`
        : html`<p class="callout">Not set up yet. Anyone who knows your password can sign in, and you cannot withdraw money.</p>`
    }
    ${mfa?.verifiedAt && html`<p class="muted">Last confirmed ${moment(mfa.verifiedAt)}.</p>`}
    ${mfa?.trusted && html`<p class="muted">Skipped at this sign-in, because you trust this browser.</p>`}
    ${
      !frame.acting &&
      html`<ul class="actions">
      <li><a href="/mfa">Manage two-step verification</a></li>
      <li><a href="/mfa/enroll-app">${user.kept.app ? 'Replace the authenticator app' : 'Set up an authenticator app'}</a></li>
      ${keys && html`<li><a href="/mfa/keys">Passkeys and security keys</a></li>`}
      ${
        hasFactor &&
        html`<li><a href="/mfa/backup">Get backup codes</a></li>
      <li><a href="/mfa/devices">Trusted browsers</a></li>`
      }
    </ul>`
    }
  </section>
</div>`,
  })
}
