import { codeField } from './code-field.js'
import { type Html, html, otpauthLink, safeLink } from './html.js'
import { icons } from './icons.js'
import { errorBox } from './layout.js'
import type { Page, PageContext } from './page.js'
import { qrImage } from './qr-code.js'
import { fill } from './text.js'
import type { ViewOf } from './view.js'

/** The page with the QR code, the key for manual entry, and the field for the first code. */
export function enrollPage(view: ViewOf<'enroll'>, context: PageContext): Page {
  const { enroll } = context.words
  return {
    title: html`${enroll.title}`,
    main: html`${
      view.qr === undefined && view.uri === undefined && view.secret === undefined
        ? codeAlone(view, context)
        : html`<ol class="mfa-steps">
<li>${enroll.stepOpen}</li>
<li>${addAccount(view, context)}</li>
<li>${codeForm(view, context)}</li>
</ol>`
    }`,
  }
}

function addAccount(view: ViewOf<'enroll'>, context: PageContext): Html {
  const { enroll } = context.words
  const image = qrImage(view.uri, view.qr)
  const link = otpauthLink(view.uri)
  return html`${image === undefined ? enroll.stepKey : enroll.stepScan}
${image !== undefined && html`<img class="mfa-qr${image.side === undefined && ' mfa-qr-pixels'}" src="${image.src}" alt="${enroll.qrAlt}" width="${image.side ?? 220}" height="${image.side ?? 220}">`}
${link !== undefined && html`<p><a class="mfa-link" href="${link}">${enroll.samePhone}</a></p>`}
${view.secret !== undefined && secretPart(view.secret, image !== undefined, context)}`
}

/** Only the browser that started can show QR code and key. Any other can enter the code, or start over. */
function codeAlone(view: ViewOf<'enroll'>, context: PageContext): Html {
  const { frame, words } = context
  const { enroll } = words
  return html`${codeForm(view, context)}
<p>${enroll.hidden}</p>
<form class="mfa-form" method="post" action="${frame.base}/enroll-app"><button class="mfa-secondary">${enroll.restart}</button></form>`
}

function codeForm(view: ViewOf<'enroll'>, context: PageContext): Html {
  const { frame, words } = context
  const field = {
    label: words.code.label,
    kind: 'digits',
    digits: view.digits ?? 6,
    describedBy: 'mfa-lead',
  } as const
  return html`<span id="mfa-lead">${fill(words.enroll.stepCode, { app: frame.appName })}</span>
<form class="mfa-form" method="post" action="${frame.base}/enroll-app/confirm">
${codeField(field, context)}
<button class="mfa-primary">${words.enroll.confirm}</button></form>`
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

/** The page before an authenticator app is set up. */
export function enrollStartPage(view: ViewOf<'enroll-start'>, context: PageContext): Page {
  const { frame, words } = context
  const over = view.over && words.enroll.over[view.over]
  return {
    title: html`${words.enroll.title}`,
    main: html`${
      over === undefined
        ? html`${strongerRequired(view, context)}<p class="mfa-lead">${words.enroll.lead}</p>
${view.replaces && html`<p>${words.enroll.replaces}</p>`}
${view.revokesDevices === true && html`<p>${words.remove.browsers}</p>`}`
        : errorBox(html`${over.title}`, html`${over.advice}`)
    }
<form class="mfa-form" method="post" action="${frame.base}/enroll-app"><button class="mfa-primary">${view.over === undefined ? words.enroll.start : words.enroll.restart}</button></form>
${(view.keys === true || view.addUrl !== undefined) && html`<div class="mfa-actions">${view.keys === true && html`<a class="mfa-secondary" href="${frame.base}/keys">${words.keys.add.passkey}</a>`}${view.addUrl !== undefined && html`<a class="mfa-secondary" href="${safeLink(view.addUrl)}">${words.overview.add}</a>`}</div>`}`,
  }
}

/** Why the sign-in goes on here. */
export function strongerRequired(
  view: { readonly strongerRequired?: boolean },
  { frame, words }: PageContext,
): Html | false {
  return (
    view.strongerRequired === true &&
    html`<p class="mfa-lead"><strong>${fill(words.strongerRequired, { app: frame.appName })}</strong></p>`
  )
}

/** The page after an authenticator app was set up. */
export function enrolledPage(view: ViewOf<'enrolled'>, context: PageContext): Page {
  const { frame, words } = context
  const { enrolled } = words
  const style = view.backup ? 'mfa-secondary' : 'mfa-primary'
  return {
    title: html`${enrolled.title}`,
    leadsHome: true,
    main: html`<p class="mfa-lead mfa-done">${icons.done}<span>${fill(enrolled.lead, { app: frame.appName })}</span></p>
<p>${view.backup ? enrolled.advice : fill(enrolled.adviceAlone, { app: frame.appName })}</p>
<div class="mfa-actions">${
      view.backup && html`<a class="mfa-primary" href="${frame.base}/backup">${enrolled.backup}</a>`
    }<a class="${style}" href="${safeLink(view.next ?? frame.homePath)}">${fill(enrolled.done, { app: frame.appName })}</a></div>`,
  }
}
