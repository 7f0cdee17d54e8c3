import { findStrongest } from '../protocol/factor.js'
import { isKeyMethod } from '../protocol/methods.js'
import { type Html, html } from './html.js'
import { factorItem } from './overview.js'
import { type Page, type PageContext, startPath } from './page.js'
import { fill } from './text.js'
import type { FactorView, ViewOf } from './view.js'

/** The page before a factor is removed: what the user is asked for afterwards, and what an attacker then needs. */
export function removePage({ factor, others, revokesDevices }: ViewOf<'remove'>, context: PageContext): Page {
  const { frame, words } = context
  const { remove } = words
  const isApp = factor === 'app'
  return {
    title: html`${isApp ? remove.appTitle : remove.codesTitle}`,
    main: html`<p class="mfa-lead">${fill(isApp ? remove.app : remove.codes, { app: frame.appName })}</p>
${renderOtherFactors(others, context)}
${isApp && risk(others, context)}
${revokesDevices && html`<p>${remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}${isApp ? '/enroll-app/remove' : '/backup/remove'}"><button class="mfa-primary mfa-danger">${words.devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${startPath(frame)}">${remove.cancel}</a></div>`,
  }
}

function renderOtherFactors(others: readonly FactorView[], context: PageContext): Html | undefined {
  if (others.length === 0) return undefined
  return html`<p>${context.words.remove.next}</p>
<ul class="mfa-factors">${others.map((other) => factorItem(other, context))}</ul>`
}

/** The effect of the removal: the strongest factor that is left is enough to change the others. `lost`: the backup codes that went with a key. */
function risk(others: readonly FactorView[], { words }: PageContext, lost?: string): Html | undefined {
  const { remove } = words
  if (others.some(({ method }) => isKeyMethod(method))) return undefined
  const enough = {
    weak: remove.mailbox,
    medium: remove.phone,
    strong: undefined,
    'phishing-resistant': undefined,
  }
  const then =
    others.length === 0 ? remove.password : enough[findStrongest(others.map(({ method }) => method))]
  return html`<p><strong>${[others.length > 0 && lost, then].filter(Boolean).join(' ')}</strong></p>`
}

/** The page before a security key or passkey is removed. It says what protects the account afterwards. */
export function keyRemovePage(
  { key, others, revokesDevices }: ViewOf<'key-remove'>,
  context: PageContext,
): Page {
  const { frame, words } = context
  const { keys, remove, devices } = words
  return {
    title: fill(keys.removeTitle, { name: key.name }),
    main: html`<p class="mfa-lead">${fill(keys.remove, { app: frame.appName })}</p>
${renderOtherFactors(others, context)}
${risk(others, context, keys.phishing)}
${revokesDevices && html`<p>${remove.browsers}</p>`}
<form class="mfa-form" method="post" action="${frame.base}/keys/remove"><input type="hidden" name="key" value="${key.id}"><button class="mfa-primary mfa-danger">${devices.revoke}</button></form>
<div class="mfa-actions"><a class="mfa-secondary" href="${frame.base}/keys">${remove.cancel}</a></div>`,
  }
}
