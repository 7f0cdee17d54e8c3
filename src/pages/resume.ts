import { linkTo } from './address.js'
import { html } from './html.js'
import type { Page, PageContext } from './page.js'
import type { View } from './view.js'

/** What was interrupted for a second factor, offered again. Nothing happens before the button is pressed. */
export function resumePage(view: Extract<View, { page: 'resume' }>, context: PageContext): Page {
  const { resume } = context.words
  const { entries } = view
  return {
    title: html`${resume.title}`,
    main: html`<p class="mfa-lead">${resume.lead}</p>
${
  entries.length > 0 &&
  html`<dl class="mfa-entries">${entries.map(
    ({ label, value }) =>
      html`<div><dt><bdi>${label}</bdi></dt><dd>${value === undefined ? html`<span class="mfa-hint">${resume.hidden}</span>` : html`<bdi>${value || '–'}</bdi>`}</dd></div>`,
  )}</dl>`
}
<form class="mfa-form" method="post" action="${linkTo(view.action)}">${Object.entries(view.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="mfa-primary">${resume.confirm}</button></form>`,
  }
}
