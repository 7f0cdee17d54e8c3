import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { type Html, html } from '../../html.js'

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--ground:#fff;--accent:#0b5cad;--bad:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;--ground:#0d1117;--accent:#79b8ff;--bad:#ff9492}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:58rem;margin:0 auto;padding:2rem 1.25rem 5rem}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--accent)}
code{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.status{font-weight:600;font-variant-numeric:tabular-nums}
.bad{color:var(--bad)}
dl{margin:.5rem 0;border-top:1px solid var(--line)}
dl>div{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:0 1rem;padding:.55rem 0;border-bottom:1px solid var(--line)}
dt,dd{margin:0;min-width:0}
dd p:first-child{margin-top:0}
@media (max-width:40rem){main{padding:1.25rem 1rem 4rem}dl>div{grid-template-columns:1fr}}
`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Responds with a page that has no scripts and loads nothing from other addresses. */
export function sendPage(response: Response, title: string, content: Html): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body><main>
${content}
</main></body>
</html>
`
  response.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' })
  response.type('html').send(page.markup)
}

/** Whether the request comes from a browser: browsers name HTML in `Accept`, programs accept anything. */
export function prefersHtml(response: Response): boolean {
  response.vary('Accept')
  return response.req.accepts(['json', 'html']) === 'html'
}
