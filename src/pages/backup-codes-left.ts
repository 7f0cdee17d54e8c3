import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import type { View } from './view.js'

/** With this many backup codes or fewer, the user should get new ones. */
const FEW_BACKUP_CODES = 3

/** Says how many backup codes are left. If they are few, it recommends new ones. */
export function backupCodesLeftPage(
  view: Extract<View, { page: 'backup-codes-left' }>,
  { frame, text, words }: PageContext,
): Page {
  const { codesLeft } = words
  const isFew = view.left <= FEW_BACKUP_CODES
  const next = (style: string) =>
    html`<a class="${style}" href="${safeLink(view.next)}">${words.code.submit}</a>`
  const renew = (style: string) =>
    html`<a class="${style}" href="${frame.base}/backup">${words.overview.backup}</a>`
  return {
    // No code left is not few.
    title: html`${isFew && view.left > 0 ? codesLeft.title : codesLeft.used}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${view.left === 0 ? codesLeft.none : text.count(codesLeft.left, view.left)}</p>
${isFew && html`<p>${codesLeft.advice}</p>`}
<div class="mfa-actions">${isFew ? [renew('mfa-primary'), next('mfa-secondary')] : [next('mfa-primary'), renew('mfa-secondary')]}</div>`,
  }
}
