import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import type { View } from './view.js'

/** Offers to submit a form again that was interrupted by the second factor. Nothing happens until the user confirms. */
export function resumePage(view: Extract<View, { page: 'resume' }>, context: PageContext): Page {
  const { resume } = context.words
  const { entries } = view
  return {
    title: html`${view.title ?? resume.title}`,
    main: html`<p class="mfa-lead">${resume.lead}</p>
${
  entries.length > 0 &&
  html`<dl class="mfa-entries">${entries.map(
    ({ label, value }) =>
      html`<div><dt><bdi>${label}</bdi></dt><dd>${value === undefined ? html`<span class="mfa-hint">${resume.hidden}</span>` : html`<bdi>${value || '–'}</bdi>`}</dd></div>`,
  )}</dl>`
}
<form class="mfa-form" method="post" action="${safeLink(view.action)}">${Object.entries(view.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="mfa-primary">${resume.confirm}</button></form>`,
  }
}
