import { factorList } from './factor-list.js'
import { type Html, html } from './html.js'
import { type PageContext, startPath } from './page.js'
import type { View } from './view.js'

/** What to do when the code does not come: a tip, the other ways, a backup code, the host's own help. */
export function troubleSection(view: Extract<View, { page: 'code' }>, context: PageContext): Html {
  const { frame, words } = context
  const kind = view.factor === 'backup' ? 'backup' : view.factor.method
  const backup = view.backup && kind !== 'backup'
  const hasOthers = view.others.length > 0 || backup
  // A code that is worth nothing any more, or will not come, needs no patience.
  const isLost = view.exhausted || view.challenge?.delivery === 'refused'
  const isDelivered = kind !== 'app' && kind !== 'backup'
  return html`<details class="mfa-trouble"${isLost && html` open`}>
<summary>${words.code.trouble[kind]}</summary>
${!(isLost && isDelivered) && html`<p data-mfa-tip>${words.code.tip[kind]}</p>`}
${hasOthers && html`<h2>${words.code.otherFactors}</h2>${factorList({ factors: view.others, backup }, context)}`}
${frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${frame.purpose !== 'manage' && html`<p><a class="mfa-link" href="${startPath(frame)}">${words.code.allFactors}</a></p>`}
</details>`
}
