import { SERVICE_PROBLEMS, type ServiceProblemCode } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import { html } from '../../../html.js'
import { prefersHtml, sendPage } from '../page.js'
import { baseUrlOf, problem } from '../problem.js'
import { isProblemCode, PROBLEMS } from '../problem-catalogue.js'
import { streamDocumentText } from '../streams/stream-document.js'

/** `GET /openapi.json`. The document is made when it is first read, since that takes longer than all routes. */
export function documentRoute(publicUrl: string | undefined): RequestHandler {
  let text: string | undefined
  return async function showDocument(_request, response) {
    const { apiDocument, documentText } = await import('../openapi/document.js')
    text ??= documentText(apiDocument(publicUrl))
    response.type('application/vnd.oai.openapi+json;version=3.1').send(text)
  }
}

/** `GET /asyncapi.json`: the AsyncAPI document of transcription streams. */
export function streamDocumentRoute(publicUrl: string | undefined): RequestHandler {
  const text = streamDocumentText(publicUrl)
  return function showStreamDocument(_request, response) {
    response.type('application/vnd.aai.asyncapi+json;version=3.0.0').send(text)
  }
}

/** `GET /problems`: the list of all problems. */
export const problemList: RequestHandler = function listProblems(_request, response) {
  const baseUrl = baseUrlOf(response)
  if (!prefersHtml(response)) {
    response.json({ problems: SERVICE_PROBLEMS.map((code) => problemJson(code, baseUrl)) })
    return
  }
  const entries = SERVICE_PROBLEMS.map(
    (code) => html`<div><dt><a href="${baseUrl}/problems/${code}"><code>${code}</code></a></dt>
<dd><span class="status bad">${PROBLEMS[code].status}</span> ${PROBLEMS[code].title}</dd></div>`,
  )
  sendPage(
    response,
    'Problems',
    html`<h1>Problems</h1>
<p>Every error of the service is an <code>application/problem+json</code> response with one of these codes.</p>
<dl>${entries}</dl>
<p><a href="${baseUrl}/openapi.json">API reference (OpenAPI)</a></p>`,
  )
}

/** `GET /problems/:code`: the page that the `type` of a problem links to. */
export const problemPage: RequestHandler = function showProblem(request, response) {
  const { code } = request.params
  if (!isProblemCode(code)) return problem(response, 'not_found')
  const baseUrl = baseUrlOf(response)
  if (!prefersHtml(response)) {
    response.json(problemJson(code, baseUrl))
    return
  }
  const { status, title, happened, helps } = PROBLEMS[code]
  sendPage(
    response,
    title,
    html`<p class="soft"><a href="${baseUrl}/problems">Problems</a></p>
<h1>${title}</h1>
<p><span class="status bad">${status}</span> <code>${code}</code></p>
<h2>What happened</h2>
<p>${happened}</p>
<h2>What to do</h2>
<ul>${helps.map((sentence) => html`<li>${sentence}</li>`)}</ul>
<p><a href="${baseUrl}/openapi.json">API reference (OpenAPI)</a></p>`,
  )
}

function problemJson(code: ServiceProblemCode, baseUrl: string) {
  return { type: `${baseUrl}/problems/${code}`, code, ...PROBLEMS[code] }
}
