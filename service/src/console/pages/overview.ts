import { html } from '../../html.js'
import type { PageRoute } from '../page.js'

const ROLE_TEXTS = {
  viewer: 'You can read everything except users and secrets.',
  support: 'You can read everything except secrets, help users, and pause traffic.',
  admin: 'You can read and change everything.',
} as const

/** The first page after signing in. */
export const OVERVIEW_ROUTES: readonly PageRoute[] = [
  {
    method: 'get',
    path: '/console',
    least: 'viewer',
    handle: ({ account, parts: { info } }) => ({
      title: 'Overview',
      section: 'overview',
      main: html`<dl class="facts">
<dt>Release</dt><dd>${info.version}</dd>
<dt>Database</dt><dd>${info.store}</dd>
<dt>Carriers</dt><dd>${info.carriers}</dd>
<dt>Your role</dt><dd>${account.role}. ${ROLE_TEXTS[account.role]}</dd>
</dl>`,
    }),
  },
]
