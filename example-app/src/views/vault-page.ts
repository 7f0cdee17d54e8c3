import type { Movement } from '../store/ledger.js'
import type { VaultUser } from '../store/users.js'
import { date, money, signedMoney } from './format.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The data of the money page. */
export interface VaultView {
  readonly user: VaultUser
  readonly balance: number
  readonly movements: readonly Movement[]
  readonly message: PageMessage | undefined
  readonly frame: Frame
}

/** The money page: balance, movements and withdrawal. */
export function vaultPage({ user, balance, movements, message, frame }: VaultView): string {
  return layout({
    title: 'Money',
    viewer: user,
    here: 'vault',
    frame,
    body: html`<h1>Money</h1>
${pageMessageBox(message)}
<div class="grid">
  <section class="card balance">
    <h2>Balance</h2>
    <p class="amount">${money(balance)}</p>
    ${
      !frame.acting &&
      html`<form method="post" action="/vault/withdraw" class="stack">
      <label>Withdraw, in whole dollars
        <input name="amount" type="number" inputmode="numeric" min="1" max="${balance}" step="1" required autocomplete="off">
      </label>
      <button>Withdraw</button>
    </form>
    <p class="muted">Each withdrawal asks for a second step, which shows the sum and counts for it alone.</p>`
    }
  </section>
  <section class="card">
    <h2>Payment card</h2>
    <p id="card">•••• •••• •••• 4242</p>
    <button id="show-card" type="button" hidden>Show the number</button>
    <p id="card-message" role="status"></p>
  </section>
  <section class="card">
    <h2>Recent transactions</h2>
    ${
      movements.length > 0
        ? html`<table class="movements">
      <thead class="hidden"><tr><th scope="col">Date</th><th scope="col">Description</th><th scope="col">Amount</th></tr></thead>
      <tbody>${movements.map(
        (movement) => html`
        <tr><td class="muted">${date(movement.at)}</td><td>${movement.what}</td><td class="${movement.amount > 0 ? 'in' : 'out'}">${signedMoney(movement.amount)}</td></tr>`,
      )}
      </tbody></table>`
        : html`<p class="muted">No transactions yet.</p>`
    }
  </section>
</div>
<script type="module" src="/card.js"></script>`,
  })
}
