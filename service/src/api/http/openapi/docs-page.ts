import { type Html, html } from '../../../telemetry/html.js'
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
