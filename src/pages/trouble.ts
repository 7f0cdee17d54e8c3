import { factorList } from './factor-list.js'
import { type Html, html } from './html.js'
import { type PageContext, startPath } from './page.js'
import { recoverLink } from './recovery.js'
import type { View } from './view.js'

/** Help when the code does not arrive: a tip, the other factors, a backup code, and the host's help text. */
export function troubleSection(
  view: Extract<View, { page: 'code' }>,
  context: PageContext,
): Html | undefined {
  const { frame, words } = context
  const kind = view.factor === 'backup' ? 'backup' : view.factor.method
  const backup = view.backup && kind !== 'backup'
  const mayHaveBackup = view.mayHaveBackup === true && kind !== 'backup'
  const hasOthers = view.others.length > 0 || backup || mayHaveBackup
  const choice = { factors: view.others, backup, mayHaveBackup, current: view.factor }
  // Without a usable code, the section is open and does not ask the user to wait.
  const isUnusable = view.exhausted || view.challenge?.delivery === 'refused'
  const isDelivered = kind !== 'app' && kind !== 'backup'
  const hasTip = !(isUnusable && isDelivered)
  const recover = recoverLink(context)
  if (!hasTip && !hasOthers && !recover && frame.help === undefined) return undefined
  return html`<details class="mfa-trouble"${isUnusable && html` open`}>
<summary>${words.code.trouble[kind]}</summary>
${hasTip && html`<p data-mfa-tip>${words.code.tip[kind]}</p>`}
${hasOthers && html`<h2>${words.code.otherFactors}</h2>${factorList(choice, context)}`}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${frame.purpose !== 'manage' && view.others.length > 0 && html`<p><a class="mfa-link" href="${startPath(frame)}?choose">${words.code.allFactors}</a></p>`}
${recover}
</details>`
}
