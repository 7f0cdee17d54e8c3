import type { Method } from '../protocol/methods.js'
import { type Html, html } from './html.js'

const icon = (paths: Html) =>
  html`<svg class="mfa-icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`

/** The icons of factors and messages. */
export const icons: Readonly<Record<Method | 'backup' | 'device' | 'done' | 'error' | 'language', Html>> = {
  app: icon(
    html`<rect x="6.5" y="2.5" width="11" height="19" rx="2.5"/><path d="M10.5 18.5h3"/><path d="m9.8 10.2 1.6 1.6 2.9-3.2"/>`,
  ),
  email: icon(html`<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m4 7.5 8 6 8-6"/>`),
  sms: icon(
    html`<path d="M5.5 4.5h13A2.5 2.5 0 0 1 21 7v7.5a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 3.5V17h-1A2.5 2.5 0 0 1 3 14.5V7a2.5 2.5 0 0 1 2.5-2.5Z"/><path d="M8 10.8h.01M12 10.8h.01M16 10.8h.01"/>`,
  ),
  whatsapp: icon(
    html`<path d="M12 3.5a8.5 8.5 0 0 0-7.3 12.8L3.5 20.5l4.3-1.2A8.5 8.5 0 1 0 12 3.5Z"/><path d="M9 9c0 3.5 2.5 6 6 6v-1.7l-1.8-.8-1 .9c-.8-.4-1.4-1-1.7-1.7l.8-1L10.6 9Z"/>`,
  ),
  call: icon(
    html`<path d="M6 3.5h2.5l1.6 4.2-2 1.7a12 12 0 0 0 6.5 6.5l1.7-2 4.2 1.6V18a2.5 2.5 0 0 1-2.7 2.5A16.5 16.5 0 0 1 3.5 6.2 2.5 2.5 0 0 1 6 3.5Z"/>`,
  ),
  dual: icon(
    html`<path d="M12 16H5a2.5 2.5 0 0 1-2.5-2.5v-7A2.5 2.5 0 0 1 5 4h9a2.5 2.5 0 0 1 2.5 2.5"/><path d="m3.5 6 6 4.5 5-3.7"/><rect x="14.5" y="9.5" width="7" height="11.5" rx="1.8"/><path d="M17.5 18.3h1"/>`,
  ),
  backup: icon(
    html`<circle cx="8" cy="15.5" r="4"/><path d="m11 12.7 8.5-8.5M16 7.7l2.8 2.8M13.3 10.4l1.8 1.8"/>`,
  ),
  'security-key': icon(
    html`<path d="M14.5 12.5v6A2.5 2.5 0 0 1 12 21h-.5A2.5 2.5 0 0 1 9 18.5V8.5h5.5Z"/><path d="M9.8 8.5v-5h4v5M11.7 16.5h.1"/>`,
  ),
  passkey: icon(
    html`<circle cx="9" cy="7.5" r="3.8"/><path d="M2.8 20v-2.2A4.3 4.3 0 0 1 7 13.5h4"/><circle cx="17" cy="12.3" r="3.2"/><path d="M17 15.5V21l1.8-1.6-1.2-1.4"/>`,
  ),
  device: icon(
    html`<rect x="4" y="4.5" width="16" height="11" rx="1.8"/><path d="M2.5 19h19"/><path d="m9.8 9.8 1.6 1.6 2.9-3.2"/>`,
  ),
  language: icon(
    html`<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c2.5 2.6 3.8 5.6 3.8 9s-1.3 6.4-3.8 9c-2.5-2.6-3.8-5.6-3.8-9S9.5 5.6 12 3Z"/>`,
  ),
  done: icon(html`<circle cx="12" cy="12" r="9"/><path d="m8 12.3 2.8 2.7 5.2-5.7"/>`),
  error: icon(html`<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.3h.01"/>`),
}
