import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import type { View } from './view.js'

/** Says that few or no backup codes are left, and offers new ones. */
export function backupCodesLeftPage(
  view: Extract<View, { page: 'backup-codes-left' }>,
  { frame, text, words }: PageContext,
): Page {
  const { codesLeft } = words
  return {
    title: html`${codesLeft.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${view.left === 0 ? codesLeft.none : text.count(codesLeft.left, view.left)}</p>
<p>${codesLeft.advice}</p>
<div class="mfa-actions"><a class="mfa-primary" href="${frame.base}/backup">${words.overview.backup}</a><a class="mfa-secondary" href="${safeLink(view.next)}">${words.code.submit}</a></div>`,
  }
}
