import { createHash } from 'node:crypto'
import type { Response } from 'express'
import { type Html, html } from '../../html.js'
import { type ApiDocument, entriesOf, exampleOf, resolve, textsOf } from './document.js'

/** The document as a page. `baseUrl` is the address of the service's pages. */
export function docsPage(document: ApiDocument, baseUrl: string): Html {
  const operations = entriesOf(document.paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({ path, method, operation: resolve(document, operation) })),
  )
  const tags = (document.tags ?? []).map((tag) => {
    const own = operations.filter(({ operation }) => textsOf(operation.tags).includes(tag.name))
    return { ...tag, own }
  })
  const list = tags.map(
    ({ name, own }) => html`<h2 class="minor">${name}</h2>
<ul>${own.map(
      ({ path, method, operation }) =>
        html`<li><a href="#${String(operation.operationId)}"><code>${method.toUpperCase()} ${path}</code></a> <span class="soft">${String(operation.summary)}</span></li>`,
    )}</ul>`,
  )
  const sections = tags.flatMap(({ own }) =>
    own.map(({ path, method, operation }) => section(document, baseUrl, path, method, operation)),
  )
  return html`<h1>${document.info.title}</h1>
<p>${marked(document.info.description ?? '')}</p>
<p>Every call needs the header <code>Authorization: Bearer &lt;key&gt;</code> with the API key of your application.
This document for programs: <a href="${baseUrl}/openapi.json">openapi.json</a>. All errors: <a href="${baseUrl}/problems">problems</a>.</p>
<nav aria-label="Calls">${list}</nav>
${sections}`
}

function section(
  document: ApiDocument,
  baseUrl: string,
  path: string,
  method: string,
  operation: Readonly<Record<string, unknown>>,
): Html {
  const body = bodySchema(document, operation)
  const parameters = listOf(operation.parameters).map((parameter) => resolve(document, parameter))
  const responses = entriesOf(operation.responses)
  return html`<section>
<h2 id="${String(operation.operationId)}"><span class="verb">${method.toUpperCase()}</span><code>${path}</code></h2>
<p><strong>${String(operation.summary)}.</strong> ${marked(String(operation.description ?? ''))}</p>
${body && html`<h3>Parameters</h3>${fields(document, body)}`}
${
  parameters.length > 0 &&
  html`<h3>Headers and path</h3><dl>${parameters.map(
    (parameter) =>
      html`<div><dt><code>${String(parameter.name)}</code> <span class="mark">${String(parameter.in)}</span></dt>
<dd>${marked(String(parameter.description ?? ''))}</dd></div>`,
  )}</dl>`
}
${body && html`<h3>Example</h3><pre tabindex="0"><code>${curlOf(path, body)}</code></pre>`}
<h3>Responses</h3>
<dl>${responses.map(([status, response]) => answer(document, baseUrl, status, resolve(document, response)))}</dl>
</section>`
}

function answer(
  document: ApiDocument,
  baseUrl: string,
  status: string,
  response: Readonly<Record<string, unknown>>,
): Html {
  const content = entriesOf(response.content).map(([type, media]) => ({
    type,
    media: resolve(document, media),
  }))
  const problem = content.find(({ type }) => type === 'application/problem+json')
  const codes = entriesOf(problem?.media.examples).map(([code]) => code)
  const json = content.find(({ type }) => type === 'application/json')
  const schema = json && resolve(document, json.media.schema)
  const headers = entriesOf(response.headers).map(([name]) => name)
  const links = codes.map(
    (code) => html`<p><a href="${baseUrl}/problems/${code}"><code>${code}</code></a></p>`,
  )
  return html`<div><dt><span class="status ${status < '400' ? 'good' : 'bad'}">${status}</span></dt>
<dd>${codes.length > 0 ? links : html`<p>${marked(String(response.description))}</p>`}
${schema && entriesOf(schema.properties).length > 0 && fields(document, schema)}
${headers.length > 0 && html`<p class="soft">${headers.join(', ')}</p>`}</dd></div>`
}

function fields(document: ApiDocument, schema: Readonly<Record<string, unknown>>): Html {
  const required = textsOf(schema.required)
  return html`<dl>${entriesOf(schema.properties).map(([name, property]) => {
    const field = resolve(document, property)
    return html`<div><dt><code>${name}</code>${required.includes(name) && html` <span class="mark">required</span>`}</dt>
<dd><p>${marked(String(field.description ?? ''))}</p><p class="soft">${marked(shapeOf(field))}</p></dd></div>`
  })}</dl>`
}

/** A short description of a value's form. */
function shapeOf(field: Readonly<Record<string, unknown>>): string {
  const words = textsOf(field.enum)
  if (words.length > 0) return words.map((word) => `\`${word}\``).join(', ')
  const either = listOf(field.anyOf).flatMap((one) => entriesOf(one).filter(([name]) => name === 'format'))
  const examples = listOf(field.examples).map((example) =>
    typeof example === 'object' ? JSON.stringify(example) : String(example),
  )
  return [
    either.length > 0 ? either.map(([, format]) => String(format)).join(' or ') : String(field.type ?? ''),
    field.const !== undefined && `always \`${String(field.const)}\``,
    typeof field.maxLength === 'number' && `at most ${field.maxLength} characters`,
    examples.length > 0 && `such as ${examples.map((example) => `\`${example}\``).join(', ')}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** A call with its required parameters, for a terminal. */
function curlOf(path: string, body: Readonly<Record<string, unknown>>): string {
  const required = textsOf(body.required)
  const parameters = entriesOf(body.properties)
    .filter(([name]) => required.includes(name))
    .map(([name, schema]) => argumentOf(name, exampleOf(schema)))
  return ['curl', `"$MFA_URL${path}"`, '-H "Authorization: Bearer $KEY"', ...parameters].join(' \\\n  ')
}

/** JSON has quotes, which a shell would take away. */
function argumentOf(name: string, value: string): string {
  return value.startsWith('{') ? `--data-urlencode '${name}=${value}'` : `-d ${name}=${value}`
}

function bodySchema(document: ApiDocument, operation: Readonly<Record<string, unknown>>) {
  const content = entriesOf(resolve(document, operation.requestBody).content)
  const media = content.find(([type]) => type === 'application/json')?.[1]
  return media === undefined ? undefined : resolve(document, resolve(document, media).schema)
}

function listOf(part: unknown): readonly unknown[] {
  return Array.isArray(part) ? part : []
}

/** Text in which `code` is marked; everything else is plain text. */
function marked(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--ground:#fff;--raised:#f6f8fa;--accent:#0b5cad;--good:#116329;--bad:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;--ground:#0d1117;--raised:#161b22;--accent:#79b8ff;--good:#7ee787;--bad:#ff9492}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:58rem;margin:0 auto;padding:2rem 1.25rem 5rem}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.25rem;margin:3rem 0 .5rem;scroll-margin-top:1rem;overflow-wrap:anywhere}
h2.minor,h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--accent)}
code{font:.875em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:.75rem 1rem;overflow-x:auto;margin:.5rem 0}
pre code{overflow-wrap:normal}
.soft{color:var(--soft)}
.verb{font:600 .8rem ui-monospace,Menlo,Consolas,monospace;color:var(--ground);background:var(--accent);border-radius:4px;padding:.15rem .45rem;margin-right:.5rem}
.status{font-weight:600;font-variant-numeric:tabular-nums}
.good{color:var(--good)}
.bad{color:var(--bad)}
dl{margin:.5rem 0;border-top:1px solid var(--line)}
dl>div{display:grid;grid-template-columns:minmax(9rem,14rem) 1fr;gap:0 1rem;padding:.55rem 0;border-bottom:1px solid var(--line)}
dt,dd{margin:0;min-width:0}
dd p:first-child{margin-top:0}
nav ul{list-style:none;padding:0;margin:1rem 0;display:grid;gap:.35rem}
.mark{font-size:.75rem;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:0 .5rem;white-space:nowrap}
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
