import { SERVICE_PROBLEMS, type ServiceProblemCode } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import { html, sendPage, wantsPage } from '../html-page.js'
import { pagesAt, problem } from '../problem.js'
import { PROBLEMS } from '../problem-catalogue.js'

/** `GET /problems`: every problem there is. */
export const problemList: RequestHandler = function listProblems(_request, response) {
  const at = pagesAt(response)
  if (!wantsPage(response)) {
    response.json({ problems: SERVICE_PROBLEMS.map((code) => describe(code, at)) })
    return
  }
  const entries = SERVICE_PROBLEMS.map(
    (code) => html`<div><dt><a href="${at}/problems/${code}"><code>${code}</code></a></dt>
<dd><span class="status bad">${PROBLEMS[code].status}</span> ${PROBLEMS[code].title}</dd></div>`,
  )
  sendPage(
    response,
    'Problems',
    html`<h1>Problems</h1>
<p>Every error of the service is an <code>application/problem+json</code> with one of these codes.</p>
<dl>${entries}</dl>
<p><a href="${at}/docs">The API</a></p>`,
  )
}

/** `GET /problems/:code`: what the `type` of a problem leads to. */
export const problemPage: RequestHandler = function showProblem(request, response) {
  const { code } = request.params
  if (!isCode(code)) return problem(response, 'not_found')
  const at = pagesAt(response)
  if (!wantsPage(response)) {
    response.json(describe(code, at))
    return
  }
  const { status, title, happened, helps } = PROBLEMS[code]
  sendPage(
    response,
    title,
    html`<p class="soft"><a href="${at}/problems">Problems</a></p>
<h1>${title}</h1>
<p><span class="status bad">${status}</span> <code>${code}</code></p>
<h2 class="minor">What happened</h2>
<p>${happened}</p>
<h2 class="minor">What helps</h2>
<ul>${helps.map((sentence) => html`<li>${sentence}</li>`)}</ul>
<p><a href="${at}/docs">The API</a></p>`,
  )
}

function describe(code: ServiceProblemCode, at: string) {
  return { type: `${at}/problems/${code}`, code, ...PROBLEMS[code] }
}

function isCode(text: unknown): text is ServiceProblemCode {
  return SERVICE_PROBLEMS.some((code) => code === text)
}
