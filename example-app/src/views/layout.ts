import { LANGUAGES, type Language } from '../language.js'
import { type Html, html } from './html.js'

/** The signed-in user, as far as a page shows it. */
export interface Viewer {
  readonly username: string
  readonly name: string
}

/** The frame of every page: menu and footer. */
export interface Frame {
  /** Whether the menu has the development inbox. */
  readonly inbox: boolean
  /** Whether the menu has the help desk, for staff. */
  readonly helpDesk: boolean
  /** Whether a member of staff acts for the signed-in user. */
  readonly acting: boolean
  /** The language of the MFA pages, which the footer marks. */
  readonly language: Language
}

/** The data of a page. */
export interface Page {
  readonly title: string
  /** The signed-in user; `undefined` without one. */
  readonly viewer: Viewer | undefined
  /** The current item of the menu. */
  readonly here?: 'home' | 'vault' | 'account' | 'help-desk' | 'inbox' | 'sign-in'
  readonly frame: Frame
  readonly body: Html
}

/** The HTML document of a page: head, menu, body, footer. */
export function layout(page: Page): string {
  const link = (href: string, name: Page['here'], text: string) =>
    html`<a href="${href}"${page.here === name ? html` aria-current="page"` : null}>${text}</a>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – Vault</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/vault.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top${page.viewer && ' top-full'}">
  <a class="brand" href="/">${mark}<span>Vault</span></a>
  <nav aria-label="Main">
    ${page.viewer && [link('/vault', 'vault', 'Money'), link('/account', 'account', 'Account')]}
    ${page.frame.helpDesk && link('/admin', 'help-desk', 'Help desk')}
    ${page.frame.inbox && link('/inbox', 'inbox', 'Inbox')}
    ${
      page.viewer
        ? html`<form method="post" action="/logout"><button class="quiet">Sign out</button></form>`
        : link('/login', 'sign-in', 'Sign in')
    }
  </nav>
</header>
${page.frame.acting && actingNote(page.viewer)}
<main id="main">${page.body}</main>
<footer>
  <p>Vault is not a real bank. It shows what <b>countersign</b> adds to a sign-in.</p>
  ${languageSwitch(page.frame.language)}
</footer>
</body>
</html>
`.markup
}

/** Says whose account it is, to a member of staff who acts for its user. */
function actingNote(viewer: Viewer | undefined): Html {
  return html`<aside class="callout acting" aria-label="Help desk">
  <form method="post" action="/stop-acting"><b>You are acting for ${viewer?.name}.</b> <button class="quiet">Back to your own account</button></form>
</aside>`
}

/**
 * A menu with a button for each language, which needs no script. The form has no return address, because the browser sends
 * the address of the page as the referrer.
 */
function languageSwitch(current: Language): Html {
  return html`<details class="languages">
    <summary><span id="languages">Language of two-step verification:</span> <span lang="${current}">${LANGUAGES[current]}</span></summary>
    <form method="post" action="/language" aria-labelledby="languages">
      ${Object.entries(LANGUAGES).map(
        ([tag, name]) =>
          html`<button class="quiet" name="to" value="${tag}" lang="${tag}"${tag === current && html` aria-current="true"`}>${name}</button> `,
      )}
      <p>Vault’s own pages are in English.</p>
    </form>
  </details>`
}

/** The logo: a dial. */
const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="14" fill="none" stroke="currentColor" stroke-width="2.5"/><circle cx="16" cy="16" r="5" fill="none" stroke="currentColor" stroke-width="2.5"/><path d="M16 2v7M16 23v7M2 16h7M23 16h7" stroke="currentColor" stroke-width="2.5"/></svg>`
