import { type Html, html } from '../http/html-page.js'
import { CONSOLE_NAME } from '../operator/console-application.js'
import type { OperatorAccount } from '../operator/operator-account.js'
import { isAtLeast, type Role } from '../operator/role.js'
import type { Page, PageMessage, Section } from './page.js'
import { STYLE_PATH } from './style.js'

const SECTIONS: readonly {
  readonly section: Section
  readonly name: string
  readonly path: string
  readonly least: Role
}[] = [
  { section: 'overview', name: 'Overview', path: '/console', least: 'viewer' },
  { section: 'applications', name: 'Applications', path: '/console/applications', least: 'viewer' },
  { section: 'approvals', name: 'Approvals', path: '/console/approvals', least: 'support' },
  { section: 'audit', name: 'Audit log', path: '/console/audit', least: 'viewer' },
  { section: 'health', name: 'Health and numbers', path: '/console/health', least: 'viewer' },
  { section: 'operators', name: 'Operators', path: '/console/operators', least: 'admin' },
]

/** The HTML document around a page; `account` is the operator who is signed in. */
export function layout(page: Page, account: OperatorAccount | undefined): string {
  const isError = page.message?.tone === 'error'
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${isError ? 'Error: ' : ''}${page.title} – ${CONSOLE_NAME}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/mfa/assets/mfa.css">
<link rel="stylesheet" href="${STYLE_PATH}">
${page.scripts?.map(({ path }) => html`<script defer src="${path}"></script>\n`)}</head>
<body class="${account ? 'console' : 'console-narrow'}">
${account ? html`<a class="skip" href="#main">Skip to content</a>` : ''}
<header class="mfa-top console-top">
<span class="mfa-mark" aria-hidden="true">C</span><span class="mfa-app">${CONSOLE_NAME}</span>
${account ? accountMenu(account) : ''}
</header>
${account ? navigation(page, account.role) : ''}
<main class="mfa-card" id="main">
<h1>${page.title}</h1>
${page.message ? messageBox(page.message) : ''}
${page.main}
</main>
</body>
</html>
`.markup
}

function accountMenu({ email, role }: OperatorAccount): Html {
  return html`<form class="console-account" method="post" action="/console/sign-out">
<span><a href="/console/mfa" title="Your second factors"><bdi>${email}</bdi></a> <span class="badge">${role}</span></span>
<button class="mfa-link">Sign out</button>
</form>`
}

function navigation({ section }: Page, role: Role): Html {
  const entries = SECTIONS.filter(({ least }) => isAtLeast(role, least))
  return html`<nav class="console-nav" aria-label="Console"><ul>
${entries.map(
  (entry) =>
    html`<li><a href="${entry.path}"${entry.section === section ? html` aria-current="page"` : ''}>${entry.name}</a></li>`,
)}
</ul></nav>`
}

function messageBox({ tone, text }: PageMessage): Html {
  const role = tone === 'error' ? 'alert' : 'status'
  return html`<div class="mfa-message mfa-message-${tone}" role="${role}"><p>${text}</p></div>`
}
