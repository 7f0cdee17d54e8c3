import type { RequestHandler } from 'express'
import { sendPage } from '../html-page.js'
import { docsPage } from '../openapi/docs-page.js'
import { type ApiDocument, documentText } from '../openapi/document.js'
import { baseUrlOf } from '../problem.js'

/** `GET /openapi.json`: the OpenAPI document for programs. */
export function documentRoute(document: ApiDocument): RequestHandler {
  const text = documentText(document)
  return function showDocument(_request, response) {
    response.type('application/vnd.oai.openapi+json;version=3.1').send(text)
  }
}

/** `GET /docs`: the OpenAPI document as a page. */
export function docsRoute(document: ApiDocument): RequestHandler {
  return function showDocs(_request, response) {
    sendPage(response, document.info.title, docsPage(document, baseUrlOf(response)))
  }
}
