import type { Key } from 'countersign/protocol'
import type { VaultUser } from '../store/users.js'
import { factorsInWords, money } from './format.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'

/** The home page of a signed-out visitor. */
export function frontPage(frame: Frame): string {
  return layout({
    title: 'Welcome',
    viewer: undefined,
    here: 'home',
    frame,
    body: html`<section class="hero">
  <p class="eyebrow">A demo bank</p>
  <h1>Your password is the first step. <span>Vault asks for a second one.</span></h1>
  <p class="lead">Vault has its own user table, its own session and its own Passport login.
  countersign adds the second step: a passkey, an authenticator app, or a code by text message, call, email or WhatsApp.</p>
  <p><a class="button" href="/login">Sign in</a></p>
</section>
<ul class="facts">
  <li><h2>Signed in after both steps</h2><p>Until the second step is done, every page treats you as signed out.</p></li>
  <li><h2>Withdrawals ask again</h2><p>A second step confirms each withdrawal, and exactly its amount.</p></li>
  <li><h2>Backup codes</h2><p>If you lose your phone, sign in with one of the backup codes you saved.</p></li>
</ul>`,
  })
}

/** The home page of a signed-in user. */
export function homePage(
  user: VaultUser,
  balance: number,
  keys: readonly Key[] | undefined,
  frame: Frame,
): string {
  const factors = factorsInWords(user, keys)
  return layout({
    title: 'Home',
    viewer: user,
    here: 'home',
    frame,
    body: html`<h1>Good to see you, ${user.name}</h1>
<div class="grid">
  <section class="card balance">
    <h2>Balance</h2>
    <p class="amount">${money(balance)}</p>
    <p><a class="button" href="/vault">Open the vault</a></p>
  </section>
  <section class="card">
    <h2>Two-step verification</h2>
    ${
      factors.length > 0
        ? html`<ul class="plain">${factors.map(({ name }) => html`<li>${name}</li>`)}</ul>`
        : html`<p>Only a password protects your account.</p>`
    }
    ${!frame.acting && html`<p><a href="/mfa">${factors.length > 0 ? 'Manage two-step verification' : 'Set up two-step verification'}</a></p>`}
  </section>
  <section class="card">
    <h2>Voice messages</h2>
    <p>Turn a recording into text, from a file or an address.</p>
    <p><a href="/transcribe">Transcribe a recording</a></p>
  </section>
</div>`,
  })
}
