import { assets } from './assets.js'
import { pageFooter } from './footer.js'
import { type Html, html } from './html.js'
import { memoized } from './memoized.js'
import type { Page, PageContext } from './page.js'
import { safeLink } from './safe-url.js'
import { fill } from './text.js'
import type { PageFrame } from './view.js'

/** The HTML document around a page. It has no inline scripts or styles, so that it works under a strict CSP. */
export function layout(page: Page, context: PageContext): Html {
  const { frame, text, words } = context
  const isError = page.error === true || frame.message?.tone === 'error'
  const title = fill(isError ? words.documentTitleError : words.documentTitle, {
    page: page.title,
    app: frame.appName,
  })
  return html`<!doctype html>
<html lang="${text.locale}" dir="${words.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${frame.base}/assets/mfa.css?v=${assets['mfa.css'].version}">
${frame.stylesheet !== undefined && html`<link rel="stylesheet" href="${safeLink(frame.stylesheet)}">`}
<script type="module" src="${frame.base}/assets/mfa.js?v=${assets['mfa.js'].version}"></script>
${page.usesKeys === true && html`<script type="module" src="${frame.base}/assets/mfa-keys.js?v=${assets['mfa-keys.js'].version}"></script>`}
</head>
<body>
<header class="mfa-top">${mark(frame)}<span class="mfa-app"><bdi>${frame.appName}</bdi></span></header>
<main class="mfa-card">
<h1>${page.title}</h1>
${page.main}
</main>
${pageFooter(page, context)}
<p class="mfa-unseen" role="status" data-mfa-live></p>
</body>
</html>
`
}

/** Decorative: the name stands beside it. */
function mark({ appName, logo }: PageFrame): Html {
  if (logo !== undefined) return html`<img class="mfa-logo" src="${safeLink(logo)}" alt="" height="32">`
  return html`<span class="mfa-mark" aria-hidden="true">${initial(appName)}</span>`
}

const characters = new Intl.Segmenter()

/** The first character of the app's name, which is found once. */
const initial = memoized((name: string) => {
  const [first] = characters.segment(name.trim())
  return first?.segment.toLocaleUpperCase() ?? ''
})
