import { codeField } from './code-field.js'
import { type Html, html } from './html.js'
import type { Page, PageContext } from './page.js'
import { messageBox } from './page-message.js'
import { imageDataUrl, otpauthLink } from './safe-url.js'
import { fill } from './text.js'
import type { View } from './view.js'

type EnrollView = Extract<View, { page: 'enroll' }>

/** The page with the QR code, the key for manual entry, and the field for the first code. */
export function enrollPage(view: EnrollView, context: PageContext): Page {
  const { frame, words } = context
  const { enroll } = words
  const image = imageDataUrl(view.qr)
  const link = otpauthLink(view.uri)
  return {
    title: html`${enroll.title}`,
    main: html`${messageBox(context)}<ol class="mfa-steps">
<li>${enroll.stepOpen}</li>
<li>${image === undefined ? enroll.stepKey : enroll.stepScan}
${image !== undefined && html`<img class="mfa-qr" src="${image}" alt="${enroll.qrAlt}" width="220" height="220">`}
${link !== undefined && html`<p><a class="mfa-link" href="${link}">${enroll.samePhone}</a></p>`}
${view.secret !== undefined && secretPart(view.secret, image !== undefined, context)}</li>
<li><span id="mfa-lead">${fill(enroll.stepCode, { app: frame.appName })}</span>
<form class="mfa-form" method="post" action="${frame.base}/enroll-app/confirm">
${codeField({ label: words.code.label, kind: 'digits', digits: view.digits ?? 6, describedBy: 'mfa-lead' }, context)}
<button class="mfa-primary">${enroll.confirm}</button></form></li>
</ol>`,
  }
}

function secretPart(secret: string, hasImage: boolean, context: PageContext): Html {
  const { enroll } = context.words
  const bare = secret.replace(/\s+/g, '')
  const groups = bare.match(/.{1,4}/gu) ?? []
  const key = html`<p><code class="mfa-secret" dir="ltr" translate="no">${groups.join(' ')}</code></p>
<p class="mfa-small">${enroll.secretSettings}</p>
<button class="mfa-secondary" type="button" hidden data-mfa-copy="${bare}" data-mfa-copied="${enroll.copied}">${enroll.copy}</button>`
  if (!hasImage) return html`<div class="mfa-key">${key}</div>`
  return html`<details class="mfa-trouble">
<summary>${enroll.cannotScan}</summary>
<p>${enroll.secret}</p>
${key}
</details>`
}
