import type { RequestHandler } from 'express'
import { sendPage } from '../html-page.js'
import { pagesAt } from '../problem.js'
import { docsPage } from '../openapi/docs-page.js'
import { type ApiDocument, documentText } from '../openapi/document.js'

/** `GET /openapi.json`: the document for programs. */
export function documentRoute(document: ApiDocument): RequestHandler {
  const text = documentText(document)
  return function tellDocument(_request, response) {
    response.type('application/vnd.oai.openapi+json;version=3.1').send(text)
  }
}

/** `GET /docs`: the document for people. */
export function docsRoute(document: ApiDocument): RequestHandler {
  return function showDocument(_request, response) {
    sendPage(response, document.info.title, docsPage(document, pagesAt(response)))
  }
}
