import { factorList } from './factor-list.js'
import { type Html, html } from './html.js'
import { keyFailures, useKeyForm } from './key-form.js'
import { type Page, type PageContext, startPath } from './page.js'
import { messageBox } from './page-message.js'
import { recoverLink } from './recovery.js'
import { trustChoice } from './trust-choice.js'
import type { View } from './view.js'

type KeyPageView = Extract<View, { page: 'key' }>

/** The page on which the user confirms with a security key or passkey: one button, and the other ways beside it. */
export function keyPage(view: KeyPageView, context: PageContext): Page {
  const { frame, words } = context
  const { factor, exhausted } = view
  const title = html`${words.choose.act[factor.method]}`
  if (exhausted) {
    const restart = html`<button class="mfa-primary">${words.code.restart}</button>`
    return {
      title,
      main: html`${messageBox(context)}
<form class="mfa-form" method="post" action="${frame.base}/challenge"><input type="hidden" name="factor" value="${factor.id}">${restart}</form>
${otherWays(view, context)}`,
    }
  }
  const button = html`<button type="button" class="mfa-primary" data-mfa-first>${words.code.submit}</button>`
  return {
    title,
    usesKeys: true,
    main: html`${messageBox(context)}<p class="mfa-lead">${words.keys.lead[factor.method]}</p>
${keyFailures(context)}
${useKeyForm(factor.id, [trustChoice(view, context), button], context)}
${otherWays(view, context)}`,
  }
}

/** The other factors, folded up beside the button. */
function otherWays(view: KeyPageView, context: PageContext): Html | undefined {
  const { frame, words } = context
  const { factor, others, backup, mayHaveBackup = false } = view
  const hasOthers = others.length > 0 || backup || mayHaveBackup
  const recover = recoverLink(context)
  if (!hasOthers && !recover && frame.help === undefined) return undefined
  return html`<details class="mfa-trouble"${view.exhausted && html` open`}>
<summary>${words.code.otherFactors}</summary>
${hasOthers && factorList({ factors: others, backup, mayHaveBackup, current: factor }, context)}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${frame.purpose !== 'manage' && others.length > 0 && html`<p><a class="mfa-link" href="${startPath(frame)}?choose">${words.code.allFactors}</a></p>`}
${recover}
</details>`
}
