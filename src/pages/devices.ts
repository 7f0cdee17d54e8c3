import { type Html, html } from './html.js'
import { icons } from './icons.js'
import type { Page, PageContext } from './page.js'
import { fill } from './text.js'
import type { DeviceView, ViewOf } from './view.js'

/** The list of trusted browsers, with buttons to revoke them. */
export function devicesPage(view: ViewOf<'devices'>, context: PageContext): Page {
  const { frame, words } = context
  const { devices } = words
  const isEmpty = view.devices.length === 0
  return {
    title: html`${devices.title}`,
    main: html`<p class="mfa-lead">${fill(isEmpty ? devices.none : devices.lead, { app: frame.appName })}</p>
${!isEmpty && html`<ul class="mfa-factors" aria-label="${devices.title}">${view.devices.map((device) => item(device, context))}</ul>`}
${
  view.devices.length > 1 &&
  html`<form class="mfa-form" method="post" action="${frame.base}/devices/revoke-all"><button class="mfa-secondary mfa-danger">${devices.revokeAll}</button></form>`
}`,
  }
}

function item(device: DeviceView, context: PageContext): Html {
  const { frame, text, words } = context
  const { devices } = words
  const { now } = frame
  const name = nameOf(device, context)
  const hints = [
    fill(devices.used, { when: text.daysAgo(now - device.lastUsedAt) }),
    fill(devices.ends, { in: text.inTime((device.expiresAt - now) / 1000) }),
  ]
  return html`<li class="mfa-device">${icons.device}<span class="mfa-choice-text"><span>${name}${
    device.current && html` <strong class="mfa-here">${devices.current}</strong>`
  }</span>${device.location !== undefined && html`<span class="mfa-hint"><bdi>${device.location}</bdi></span>`}${hints.map((hint) => html`<span class="mfa-hint">${hint}</span>`)}</span>
<form method="post" action="${frame.base}/devices/revoke"><input type="hidden" name="device" value="${device.id}"><button class="mfa-link mfa-danger">${devices.revoke}<span class="mfa-unseen"> ${name}</span></button></form></li>`
}

function nameOf({ browser, system }: DeviceView, { words }: PageContext): Html {
  if (browser !== undefined && system !== undefined) return fill(words.devices.name, { browser, system })
  return html`${browser ?? system ?? words.devices.unknown}`
}

/** The checkbox to trust this browser, below the code field. The script leaves a form with it to the button. */
export function trustChoice(
  { trust }: Pick<ViewOf<'code'>, 'trust'>,
  { text, words }: PageContext,
): Html | undefined {
  if (trust === undefined) return undefined
  return html`<label class="mfa-trust"><input type="checkbox" name="trust" value="true"${trust.ticked && html` checked`}><span><span>${fill(
    words.code.trust,
    { time: text.lengthOf(trust.forMs) },
  )}</span><span class="mfa-hint">${words.code.trustHint}</span></span></label>`
}
