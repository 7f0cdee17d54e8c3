import { LANGUAGES, type Language } from '../language.js'
import { type Html, html } from './html.js'

/** What a page needs to know about whoever looks at it. */
export interface Viewer {
  readonly username: string
  readonly name: string
}

/** What stands around every page. */
export interface Around {
  /** Whether the development inbox can be looked at; puts it into the menu. */
  readonly inbox: boolean
  /** In which the second step would be shown. */
  readonly language: Language
}

/** A whole page. */
export interface Page {
  readonly title: string
  /** Nobody, for pages outside. */
  readonly viewer: Viewer | undefined
  /** Which item of the menu this is. */
  readonly here?: 'home' | 'vault' | 'account' | 'inbox' | 'sign-in'
  readonly around: Around
  /** Loads the page again after so many seconds. */
  readonly refreshSeconds?: number
  readonly body: Html
}

/** The document around a page: head, menu, foot. */
export function layout(page: Page): string {
  const link = (href: string, name: Page['here'], text: string) =>
    html`<a href="${href}"${page.here === name ? html` aria-current="page"` : null}>${text}</a>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${page.refreshSeconds && html`<meta http-equiv="refresh" content="${page.refreshSeconds}">`}
<title>${page.title} · Vault</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/vault.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
  <a class="brand" href="/">${mark}<span>Vault</span></a>
  <nav aria-label="Main">
    ${page.viewer && [link('/vault', 'vault', 'Money'), link('/account', 'account', 'Account')]}
    ${page.around.inbox && link('/inbox', 'inbox', 'Inbox')}
    ${
      page.viewer
        ? html`<form method="post" action="/logout"><button class="quiet">Sign out</button></form>`
        : link('/login', 'sign-in', 'Sign in')
    }
  </nav>
</header>
<main id="main">${page.body}</main>
<footer>
  <p>Vault is not a bank. It shows what <b>countersign</b> adds to a sign-in.</p>
  ${languageSwitch(page.around.language)}
</footer>
</body>
</html>
`.markup
}

/** Sent without an address to return to: the browser says which page this was. */
function languageSwitch(current: Language): Html {
  return html`<form method="post" action="/language" class="languages" aria-labelledby="speaks">
    <p id="speaks">Vault’s own pages are in English alone. The second step and its messages can be in:</p>
    <p>${Object.entries(LANGUAGES).map(
      ([tag, name]) =>
        html`<button class="quiet" name="to" value="${tag}" lang="${tag}"${tag === current && html` aria-current="true"`}>${name}</button> `,
    )}</p>
  </form>`
}

/** The drawing beside the name: a dial. */
const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="14" fill="none" stroke="currentColor" stroke-width="2.5"/><circle cx="16" cy="16" r="5" fill="none" stroke="currentColor" stroke-width="2.5"/><path d="M16 2v7M16 23v7M2 16h7M23 16h7" stroke="currentColor" stroke-width="2.5"/></svg>`
