import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Express, Request, Response } from 'express'
import { type Html, html } from '../html.js'
import { CONSOLE_NAME } from '../operator/console-counters.js'
import type { Operator } from '../operator/operator.js'
import type { OperatorAccount } from '../operator/operator-account.js'
import { isAtLeast, type Role } from '../operator/rights.js'
import { PACKAGE_FOLDER } from '../process/own-package.js'
import { type ConsoleParts, MESSAGE_ID } from './parts.js'

/** A page of the console. */
export interface Page {
  readonly title: string
  readonly main: Html
  /** The entry of the navigation that the page belongs to. */
  readonly section?: Section
  /** The change of the last request, or why it changed nothing. */
  readonly message?: PageMessage | undefined
  /** The scripts that improve the page, in this order. It must do without them. Defaults to none. */
  readonly scripts?: readonly Asset[]
  /** The contents of the search field. Defaults to nothing. */
  readonly searched?: string
  /** The HTTP status. Defaults to 422 with a message that says why nothing was changed, else to 200. */
  readonly status?: number
}

/** The message of a page about the last request. */
export interface PageMessage {
  readonly tone: 'success' | 'error'
  readonly text: string
}

type Section = (typeof SECTIONS)[number]['section']

interface Download {
  readonly name: string
  /** Its `Content-Type`. */
  readonly type: string
  readonly body: string
}

/** The response of a handler: a page, the path of the next page, or a file. */
export type Reply =
  | Page
  /** The browser sends the form to that page again if the status is 307. */
  | { readonly redirect: string; readonly status?: 307 }
  | { readonly download: Download }

/** A request of a signed-in operator. */
export interface PageRequest {
  readonly request: Request
  readonly parts: ConsoleParts
  readonly account: OperatorAccount
  /** Everything that the console can do, under the operator's name. */
  readonly operator: Operator
  /** The name of the application in the path, which exists; empty for a path without one. */
  readonly application: string
  /** The fields of a posted form. */
  readonly form: Form
}

/** The fields of a form, each of them one text. */
export interface Form {
  /** The value of a field, without spaces around it; empty when it is missing. */
  text(name: string): string
  /** The value of a field exactly as typed; empty when it is missing. */
  exact(name: string): string
  /** All values of a field with several check boxes. */
  all(name: string): readonly string[]
}

/** A route for signed-in operators. */
export interface PageRoute {
  readonly method: 'get' | 'post'
  readonly path: string
  /** The least role that may use it. */
  readonly least: Role
  /** Whether it shows or changes a secret, and so needs a second factor of the last minutes. */
  readonly stepUp?: boolean
  readonly handle: (request: PageRequest) => Promise<Reply> | Reply
}

/** A route that needs no sign-in. */
export interface PublicRoute extends Pick<PageRoute, 'method' | 'path'> {
  readonly handle: (request: Request, response: Response, parts: ConsoleParts) => Promise<Reply> | Reply
}

const SECTIONS = [
  { section: 'overview', name: 'Overview', path: '/console', least: 'viewer' },
  { section: 'applications', name: 'Applications', path: '/console/applications', least: 'viewer' },
  { section: 'consents', name: 'Consents', path: '/console/approvals', least: 'support' },
  { section: 'audit', name: 'Audit log', path: '/console/audit', least: 'viewer' },
  { section: 'health', name: 'Health and numbers', path: '/console/health', least: 'viewer' },
  { section: 'operators', name: 'Operators', path: '/console/operators', least: 'admin' },
] as const

/** The HTML document around a page; `account` is the operator who is signed in. */
export function renderLayout(page: Page, account: OperatorAccount | undefined): string {
  const isError = page.message?.tone === 'error'
  const scripts = [...(account ? [TIMES_SCRIPT] : []), ...(page.scripts ?? [])]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${isError ? 'Error: ' : ''}${page.title} – ${CONSOLE_NAME}</title>
<link rel="stylesheet" href="/console/mfa/assets/mfa.css">
<link rel="stylesheet" href="${STYLE.path}">
${scripts.map(({ path }) => html`<script defer src="${path}"></script>\n`)}</head>
<body class="${account ? 'console' : 'console-narrow'}">
${account ? html`<a class="skip" href="#main">Skip to content</a>` : ''}
<header class="mfa-top console-top">
<span class="mfa-mark" aria-hidden="true">C</span><span class="mfa-app">${CONSOLE_NAME}</span>
${account && isAtLeast(account.role, 'support') ? searchField(page) : ''}
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

/** Where the search field of every page posts to. */
export const SEARCH_PATH = '/console/search'

function searchField({ searched = '' }: Page): Html {
  return html`<form class="console-search" role="search" aria-label="Users and messages" method="post" action="${SEARCH_PATH}">
<input name="find" type="search" required maxlength="400" autocomplete="off" value="${searched}"
 aria-label="Account, contact, message id or reference" placeholder="Account, contact, message id or reference">
<button class="small-button">Find</button></form>`
}

function accountMenu({ email, role }: OperatorAccount): Html {
  return html`<details class="console-account">
<summary><bdi>${email}</bdi> <span class="badge">${role}</span></summary>
<form method="post" action="/console/sign-out"><p class="note"><bdi>${email}</bdi></p><a href="/console/mfa">Your second factors</a>
<button class="small-button">Sign out</button></form></details>`
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
  return html`<div class="mfa-message mfa-message-${tone}" id="${MESSAGE_ID}" role="${role}"><p>${text}</p></div>`
}

/** A style sheet or script of the console, which is served from the console itself. */
export interface Asset {
  /** Its address, which changes with its content. */
  readonly path: string
  readonly content: string
}

function readAsset(name: string, file = new URL(`assets/${name}`, PACKAGE_FOLDER)): Asset {
  const content = readFileSync(file, 'utf8')
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 10)
  return { path: `/console/assets/${name}?v=${version}`, content }
}

const STYLE = readAsset('console.css')

/** Shows times in the operator's zone, on every page of a signed-in operator, before the other scripts. */
const TIMES_SCRIPT = readAsset('times.js')

// The whole library in one file for browsers, beside the file that Node loads.
const CHART = new URL('chart.umd.min.js', `file://${createRequire(import.meta.url).resolve('chart.js')}`)

/** Draws the charts of a page and keeps them up to date; the library comes first. */
export const CHART_SCRIPTS: readonly Asset[] = [readAsset('chart.js', CHART), readAsset('numbers.js')]

/** Adds a button that copies what a page shows once. */
export const COPY_SCRIPTS: readonly Asset[] = [readAsset('copy.js')]

/** Serves the style sheet and the scripts. */
export function serveAssets(app: Express): void {
  for (const { path, content } of [STYLE, TIMES_SCRIPT, ...CHART_SCRIPTS, ...COPY_SCRIPTS]) {
    const name = path.replace(/\?.*$/, '')
    app.get(name, (_request, response) => {
      response
        .set('Cache-Control', 'public, max-age=31536000, immutable')
        .type(name.endsWith('.css') ? 'css' : 'js')
        .send(content)
    })
  }
}
