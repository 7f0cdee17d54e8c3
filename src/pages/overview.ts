import { type Html, html } from './html.js'
import { icons } from './icons.js'
import { destination, type Page, type PageContext } from './page.js'
import { messageBox } from './page-message.js'
import type { FactorView, View } from './view.js'

/** The page of a signed-in user: their factors, and links to manage them. */
export function overviewPage(view: Extract<View, { page: 'overview' }>, context: PageContext): Page {
  const { frame, text, words } = context
  const { codesLeft, overview } = words
  const left = view.backupCodesLeft
  const isEmpty = view.factors.length === 0
  const hasApp = view.factors.some(({ method }) => method === 'app')
  return {
    title: html`${overview.title}`,
    main: html`${messageBox(context)}<p class="mfa-lead">${isEmpty ? overview.none : overview.lead}</p>
${!isEmpty && html`<ul class="mfa-factors" aria-label="${overview.factors}">${view.factors.map((factor) => factorItem(factor, context))}</ul>`}
${left !== undefined && html`<p>${left === 0 ? codesLeft.none : text.count(codesLeft.left, left)}</p>`}
<div class="mfa-actions">${
      view.enroll !== false &&
      html`<a class="${isEmpty ? 'mfa-primary' : 'mfa-secondary'}" href="${frame.base}/enroll-app">${hasApp ? overview.replace : overview.enroll}</a>`
    }${view.backup && html`<a class="mfa-secondary" href="${frame.base}/backup">${overview.backup}</a>`}${view.devices === true && html`<a class="mfa-secondary" href="${frame.base}/devices">${words.devices.title}</a>`}</div>`,
  }
}

function factorItem(factor: FactorView, context: PageContext): Html {
  return html`<li>${icons[factor.method]}<span class="mfa-choice-text"><span>${context.words.overview.method[factor.method]}</span>${
    factor.label !== undefined && html`<span class="mfa-hint"><bdi>${factor.label}</bdi></span>`
  }${factor.to !== '' && html`<span class="mfa-hint">${destination(factor.to)}</span>`}</span></li>`
}
