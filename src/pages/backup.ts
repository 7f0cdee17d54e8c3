import { type Html, html, safeLink } from './html.js'
import { icons } from './icons.js'
import { problemText } from './layout.js'
import { destination, type Page, type PageContext, startPath } from './page.js'
import { fill } from './text.js'
import type { PageFrame, ViewOf } from './view.js'

/** The page before backup codes are created: says how the user gets them, and that they replace older ones. */
export function backupPage(view: ViewOf<'backup'>, context: PageContext): Page {
  const { frame, words } = context
  const { backup } = words
  const title = html`${backup.title}`
  if (view.shows === true) {
    return { title, main: showing(view.to, context) }
  }
  if (view.to === undefined) {
    const noContact = problemText({ tone: 'error', code: 'contact_needed' }, context)
    return {
      title,
      main: html`<p class="mfa-lead">${backup.lead}</p>
<p><strong>${noContact.title}</strong><br>${noContact.advice}</p>`,
    }
  }
  return {
    title,
    main: html`<p class="mfa-lead">${backup.lead}</p>
<p>${fill(backup.to, { to: destination(view.to) })} ${backup.replaces}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup"><button class="mfa-primary">${backup.send}</button></form>`,
  }
}

function showing(to: string | undefined, { frame, words }: PageContext): Html {
  const { backup } = words
  return html`<p class="mfa-lead">${backup.lead}</p>
<p>${backup.once} ${backup.replaces}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup/codes"><button class="mfa-primary">${backup.show}</button></form>
${to !== undefined && html`<form class="mfa-form" method="post" action="${frame.base}/backup"><button class="mfa-secondary">${fill(backup.sendInstead, { to: destination(to) })}</button></form>`}`
}

/** New backup codes: text and a file. `mfa.js` copies and prints them, and removes them from a page kept for the back button. */
export function backupCodesPage({ codes }: ViewOf<'backup-codes'>, { frame, words }: PageContext): Page {
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
<a class="mfa-secondary" href="${createFileAddress(
      backupCodes.file.replace('{app}', () => frame.appName),
      codes,
    )}" download="${fileName(frame)}">${backupCodes.download}</a>
</div>
</div>
<form class="mfa-form" method="post" action="${frame.base}/backup/saved"><button class="mfa-primary">${backupCodes.saved}</button></form>`,
  }
}

/** The page that says that no backup code is left. */
export function backupCodesGonePage({ next }: ViewOf<'backup-codes-gone'>, context: PageContext): Page {
  const { frame, words } = context
  const { backupCodes } = words
  return {
    title: html`${backupCodes.goneTitle}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${backupCodes.gone}</p>
<form class="mfa-form" method="post" action="${frame.base}/backup/codes"><button class="mfa-secondary">${backupCodes.again}</button></form>
<div class="mfa-actions"><a class="mfa-primary" href="${next === undefined ? startPath(frame) : safeLink(next)}">${words.code.submit}</a></div>`,
  }
}

/** Says whose codes they are and when they were made, in characters that every file system accepts. */
function fileName({ appName, accountName, now }: PageFrame): string {
  const parts = ['backup-codes', appName, accountName, new Date(now).toISOString().slice(0, 10)]
  return `${parts
    .filter(Boolean)
    .join('-')
    .replace(/[^\p{L}\p{N}.@_]+/gu, '-')}.txt`
}

/** The codes as the address of a text file, which needs neither script nor another request. */
function createFileAddress(title: string, codes: readonly string[]): string {
  return `data:text/plain;charset=utf-8,${encodeURIComponent([title, '', ...codes, ''].join('\r\n'))}`
}

/** With this many backup codes or fewer, the user should get new ones. */
const FEW_BACKUP_CODES = 3

/** Says how many backup codes are left. If they are few, it recommends new ones. */
export function backupCodesLeftPage(
  view: ViewOf<'backup-codes-left'>,
  { frame, text, words }: PageContext,
): Page {
  const { codesLeft } = words
  const isFew = view.left <= FEW_BACKUP_CODES
  const renderNext = (style: string) =>
    html`<a class="${style}" href="${safeLink(view.next)}">${words.code.submit}</a>`
  const renew = (style: string) =>
    html`<a class="${style}" href="${frame.base}/backup">${words.overview.backup}</a>`
  return {
    // No code left is not few.
    title: html`${isFew && view.left > 0 ? codesLeft.title : codesLeft.used}`,
    leadsHome: true,
    main: html`<p class="mfa-lead">${view.left === 0 ? codesLeft.none : text.count(codesLeft.left, view.left)}</p>
${isFew && html`<p>${codesLeft.advice}</p>`}
<div class="mfa-actions">${isFew ? [renew('mfa-primary'), renderNext('mfa-secondary')] : [renderNext('mfa-primary'), renew('mfa-secondary')]}</div>`,
  }
}

/** Says where the backup codes were sent, and where to keep them. */
export function backupSentPage(view: ViewOf<'backup-sent'>, context: PageContext): Page {
  const { frame, text, words } = context
  const { backup } = words
  return {
    title: html`${backup.sentTitle}`,
    leadsHome: true,
    main: html`<p class="mfa-lead mfa-done">${icons.done}<span>${fill(backup.sent, { to: destination(view.to) })}</span></p>
<p>${view.count !== undefined && html`${text.count(backup.count, view.count)} `}${backup.keep}</p>
<div class="mfa-actions"><a class="mfa-primary" href="${safeLink(view.next ?? frame.homePath)}">${fill(words.enrolled.done, { app: frame.appName })}</a></div>`,
  }
}
