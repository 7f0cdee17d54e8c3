import type { Movement } from '../store/ledger.js'
import type { VaultUser } from '../store/users.js'
import { date, money, signedMoney } from './format.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'
import { type Notice, noticeBox } from './notice.js'

/** What the page about money shows. */
export interface VaultView {
  readonly user: VaultUser
  readonly balance: number
  readonly movements: readonly Movement[]
  readonly notice: Notice | undefined
  readonly around: Around
}

/** The page about money: what there is, what happened, and taking some out. */
export function vaultPage({ user, balance, movements, notice, around }: VaultView): string {
  return layout({
    title: 'Money',
    viewer: user,
    here: 'vault',
    around,
    body: html`<h1>Money</h1>
${noticeBox(notice)}
<div class="grid">
  <section class="card balance">
    <h2>Balance</h2>
    <p class="amount">${money(balance)}</p>
    <form method="post" action="/vault/withdraw" class="stack">
      <label>Withdraw, in whole dollars
        <input name="amount" type="number" inputmode="numeric" min="1" max="${balance}" step="1" required autocomplete="off">
      </label>
      <button>Withdraw</button>
    </form>
    <p class="muted">We ask for your second step again if it was longer ago than a few minutes.</p>
  </section>
  <section class="card">
    <h2>Lately</h2>
    ${
      movements.length > 0
        ? html`<table class="movements">
      <thead class="hidden"><tr><th scope="col">Day</th><th scope="col">What</th><th scope="col">Amount</th></tr></thead>
      <tbody>${movements.map(
        (movement) => html`
        <tr><td class="muted">${date(movement.at)}</td><td>${movement.what}</td><td class="${movement.amount > 0 ? 'in' : 'out'}">${signedMoney(movement.amount)}</td></tr>`,
      )}
      </tbody></table>`
        : html`<p class="muted">Nothing yet.</p>`
    }
  </section>
</div>`,
  })
}
