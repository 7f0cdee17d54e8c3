import type { MfaAccount } from 'countersign'
import type { ResetRequest } from '../store/reset-requests.js'
import type { VaultUser } from '../store/users.js'
import { type Html, html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The page for staff: a form that asks for a reset, and the resets that wait for approval. */
export function adminPage(
  user: VaultUser,
  waiting: readonly ResetRequest[],
  message: PageMessage | undefined,
  frame: Frame,
): string {
  return staffPage(
    user,
    frame,
    html`<h1>Reset an account</h1>
  ${pageMessageBox(message)}
  ${waiting.map((request) => waitingRequest(request, user))}
  <p class="muted">First make sure whom you talk to. When a colleague has approved the reset, all second factors, sessions and trusted browsers of the user end, and all contacts of the account are notified.</p>
  <form method="post" action="/admin/resets" class="stack">
    <label>User name <input name="username" required maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
    <label>Reason <input name="reason" required maxlength="500" autocomplete="off"></label>
    <button>Request approval</button>
  </form>
  <h2>Act for a customer</h2>
  <p class="muted">You see what the customer sees, and can do nothing that needs a second factor. Everything is recorded under your name.</p>
  <form method="post" action="/admin/act-as" class="stack">
    <label>User name <input name="username" required maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false"></label>
    <label>Reason <input name="reason" required maxlength="500" autocomplete="off"></label>
    <button>Act for the customer</button>
  </form>`,
  )
}

function waitingRequest({ id, username, reason, by }: ResetRequest, user: VaultUser): Html {
  const isOwn = by === user.username
  return html`<div class="callout stack">
    <p><b>${username}</b>: ${reason}. ${isOwn ? 'Your request waits for the approval of a colleague.' : html`Requested by <b>${by}</b>.`}</p>
    ${!isOwn && html`<form method="post" action="/admin/resets/approve"><button name="id" value="${id}">Approve and reset ${username}</button></form>`}
  </div>`
}

/** The page after an approval, with the bypass code. */
export function resetPage(
  user: VaultUser,
  { username, by }: ResetRequest,
  { code }: Awaited<ReturnType<MfaAccount<VaultUser>['reset']>>,
  frame: Frame,
): string {
  return staffPage(
    user,
    frame,
    html`<h1>The account is reset</h1>
  <p>Give this code to ${by}, who talks to <b>${username}</b>. It works once, for one hour, and is not shown again.</p>
  <p class="callout"><code>${code}</code></p>
  <p><a href="/admin">Back to the help desk</a></p>`,
  )
}

function staffPage(user: VaultUser, frame: Frame, body: Html): string {
  return layout({
    title: 'Help desk',
    viewer: user,
    here: 'help-desk',
    frame,
    body: html`<section class="card narrow">${body}</section>`,
  })
}
