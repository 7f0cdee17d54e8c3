import type { VaultUser } from '../store/users.js'
import { factorsInWords, money } from './format.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'

/** The front page for somebody who has not signed in. */
export function frontPage(around: Around): string {
  return layout({
    title: 'Welcome',
    viewer: undefined,
    here: 'home',
    around,
    body: html`<section class="hero">
  <p class="eyebrow">A small bank with a good lock</p>
  <h1>Your password opens the door. <span>Only you open the safe.</span></h1>
  <p class="lead">Vault signs people in with its own user table, its own session and its own Passport strategy.
  The second step, a code by text, call, email, WhatsApp or authenticator app, is added by countersign.</p>
  <p><a class="button" href="/login">Sign in</a></p>
</section>
<ul class="facts">
  <li><h2>Half signed in is not signed in</h2><p>Until the second step is done, every page behaves as if nobody were there.</p></li>
  <li><h2>Money asks again</h2><p>A withdrawal needs a second step that is only a few minutes old.</p></li>
  <li><h2>A way back</h2><p>Backup codes wait in your mailbox for the day the phone is gone.</p></li>
</ul>`,
  })
}

/** The front page for somebody who is in. */
export function homePage(user: VaultUser, balance: number, around: Around): string {
  const factors = factorsInWords(user)
  return layout({
    title: 'Home',
    viewer: user,
    here: 'home',
    around,
    body: html`<h1>Good to see you, ${user.name}</h1>
<div class="grid">
  <section class="card balance">
    <h2>Balance</h2>
    <p class="amount">${money(balance)}</p>
    <p><a class="button" href="/vault">Open the vault</a></p>
  </section>
  <section class="card">
    <h2>Second step</h2>
    ${
      factors.length > 0
        ? html`<ul class="plain">${factors.map(({ name }) => html`<li>${name}</li>`)}</ul>`
        : html`<p>Your account is protected by a password alone.</p>`
    }
    <p><a href="/account">${factors.length > 0 ? 'Look after your account' : 'Set up a second step'}</a></p>
  </section>
  <section class="card">
    <h2>Voice messages</h2>
    <p>Have a recording written down, from a file or from its address.</p>
    <p><a href="/transcribe">Transcribe a recording</a></p>
  </section>
</div>`,
  })
}
