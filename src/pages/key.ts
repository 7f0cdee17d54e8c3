import { factorList } from './factor-list.js'
import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { recoverLink } from './recovery.js'
import { trustChoice } from './trust-choice.js'
import type { View } from './view.js'

/** The page on which the user confirms with a security key or passkey. */
export function keyPage(view: Extract<View, { page: 'key' }>, context: PageContext): Page {
  const { frame, words } = context
  const { factor, others, backup, mayHaveBackup = false } = view
  const choice = { factors: others, backup, mayHaveBackup, current: factor }
  const hasOthers = others.length > 0 || backup || mayHaveBackup
  return {
    title: html`${words.overview.method[factor.method]}`,
    main: html`${messageBox(context)}<form class="mfa-form" method="post" action="${frame.base}/verify"><input type="hidden" name="factor" value="${factor.id}">
<input type="hidden" name="response">
${trustChoice(view, context)}
<button class="mfa-primary">${words.choose.act[factor.method]}</button></form>
${hasOthers && html`<h2>${words.code.otherFactors}</h2>${factorList(choice, context)}`}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${recoverLink(context)}`,
  }
}
