import { codeField } from './code-field.js'
import { LEAD_ID } from './delivery-line.js'
import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'

/** The form for the bypass code that staff hand over. */
export function bypassPage(context: PageContext): Page {
  const { frame, words } = context
  const { bypass } = words
  const field = {
    label: bypass.label,
    kind: 'backup',
    digits: 0,
    isFirst: true,
    describedBy: LEAD_ID,
  } as const
  return {
    title: html`${bypass.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead" id="${LEAD_ID}">${bypass.lead}</p>
<form class="mfa-form" method="post" action="${frame.base}/verify"><input type="hidden" name="factor" value="bypass">
${codeField(field, context)}
<button class="mfa-primary">${words.code.submit}</button></form>
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}`,
  }
}
