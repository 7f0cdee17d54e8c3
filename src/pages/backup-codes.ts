import { html } from './html.js'
import { type Page, type PageContext, startPath } from './page.js'
import { messageBox } from './page-message.js'
import { safeLink } from './safe-url.js'
import type { View } from './view.js'

/**
 * New backup codes. Without script, they are text to select and a file to download; with it, they can also be copied and printed.
 * `mfa.js` removes them from a page that the browser keeps for its back button.
 */
export function backupCodesPage(
  { codes }: Extract<View, { page: 'backup-codes' }>,
  { frame, words }: PageContext,
): Page {
  const { backupCodes } = words
  const text = codes.join('\n')
  return {
    title: html`${backupCodes.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${backupCodes.lead}</p>
<div data-mfa-once>
<ol class="mfa-codes" aria-label="${backupCodes.list}">${codes.map((code) => html`<li><code dir="ltr" translate="no">${code}</code></li>`)}</ol>
<div class="mfa-tools">
<button class="mfa-secondary" type="button" hidden data-mfa-copy="${text}" data-mfa-copied="${backupCodes.copied}">${backupCodes.copy}</button>
<button class="mfa-secondary" type="button" hidden data-mfa-print>${backupCodes.print}</button>
<a class="mfa-secondary" href="${fileWith(
      backupCodes.file.replace('{app}', () => frame.appName),
      codes,
    )}" download="backup-codes.txt">${backupCodes.download}</a>
</div>
</div>
<form class="mfa-form" method="post" action="${frame.base}/backup/saved"><button class="mfa-primary">${backupCodes.saved}</button></form>`,
  }
}

/** The page after the one with the codes was loaded again. */
export function backupCodesGonePage(
  { next }: Extract<View, { page: 'backup-codes-gone' }>,
  context: PageContext,
): Page {
  const { frame, words } = context
  const { backupCodes } = words
  return {
    title: html`${backupCodes.goneTitle}`,
    leadsHome: true,
    main: html`${messageBox(context)}<p class="mfa-lead">${backupCodes.gone}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup/codes"><button class="mfa-secondary">${backupCodes.again}</button></form>
<div class="mfa-actions"><a class="mfa-primary" href="${next === undefined ? startPath(frame) : safeLink(next)}">${words.code.submit}</a></div>`,
  }
}

/** The codes as the address of a text file, which needs neither script nor another request. */
function fileWith(title: string, codes: readonly string[]): string {
  return `data:text/plain;charset=utf-8,${encodeURIComponent([title, '', ...codes, ''].join('\r\n'))}`
}
