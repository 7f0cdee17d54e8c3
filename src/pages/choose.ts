import { factorList } from './factor-list.js'
import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { recoverLink } from './recovery.js'
import { fill } from './text.js'
import type { View } from './view.js'

/** The list of factors to choose from: the preferred one first, then the others in the given order. */
export function choosePage(view: Extract<View, { page: 'choose' }>, context: PageContext): Page {
  const { frame, words } = context
  const isPreferred = (id: string) => id === view.preferred
  const factors = [
    ...view.factors.filter(({ id }) => isPreferred(id)),
    ...view.factors.filter(({ id }) => !isPreferred(id)),
  ]
  const isEmpty = factors.length === 0 && !view.backup && view.mayHaveBackup !== true
  const lead = isEmpty ? words.choose.none : words.choose.lead[frame.purpose]
  return {
    title: html`${words.choose.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${fill(lead, { app: frame.appName })}</p>
${!isEmpty && factorList({ ...view, factors }, context)}${isEmpty && frame.help !== undefined && html`<p class="mfa-help">${frame.help}</p>`}
${recoverLink(context)}`,
  }
}
