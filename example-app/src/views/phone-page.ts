import type { VaultUser } from '../store/users.js'
import { phoneNumber } from './format.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The page for adding or changing a phone number; with `pending`, the number that waits for its code. */
export function phonePage(
  user: VaultUser,
  pending: string | undefined,
  message: PageMessage | undefined,
  frame: Frame,
): string {
  const title = user.phone === null ? 'Add a phone number' : 'Change your phone number'
  return layout({
    title,
    viewer: user,
    here: 'account',
    frame,
    body: html`<section class="card narrow">
  <h1>${title}</h1>
  ${pageMessageBox(message)}
  ${
    pending !== undefined &&
    html`<form method="post" action="/phone/confirm" class="stack">
    <p>We sent a code to ${phoneNumber(pending)}. Enter it to confirm the number.</p>
    <label>Code
      <input name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="20">
    </label>
    <button>Confirm</button>
  </form>
  <h2>Another number</h2>`
  }
  <form method="post" action="/phone" class="stack">
    <label>Phone number
      <input name="phone" type="tel" autocomplete="tel" required maxlength="30" placeholder="+12025550166" aria-describedby="phone-rule">
    </label>
    <p class="muted" id="phone-rule">With country code. We send a code to confirm it.</p>
    <button${pending !== undefined && html` class="secondary"`}>Send a code</button>
  </form>
  <p><a href="/account">Cancel</a></p>
</section>`,
  })
}
